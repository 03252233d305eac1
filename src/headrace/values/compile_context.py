"""The compilation of one chain: named columns, the condition under which a record reaches a step, and the faults of each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from headrace.values.scope import Scope
from headrace.values.sql import NEVER, Sql, all_of, call, case, lit, negated

DATA = "org.apache.kafka.connect.errors.DataException"
FAILURE_TYPE = "struct<step:string,class:string,message:string,cause:string>"


@dataclass(frozen=True)
class Fault:
    """An error of records; message and cause are SQL expressions."""

    when: Sql | None
    """The condition of the records that fail; None: all of them."""
    java_class: str
    """The full name of Kafka's exception."""
    message: Sql
    cause: Sql = "NULL"
    """As `message`, an expression with a text; NULL for none."""
    thrown: Sql | None = None
    """The exception of a plugin: a column of FAILURE_TYPE that replaces class, message and cause; its `step` is the alias of the
    transform, NULL for the current step."""
    step: str | None = None
    """The step that it is reported for, where that is a later one than the one that is compiled."""

    def sql(self, current_step: str) -> Sql:
        """The failure as a struct of FAILURE_TYPE."""
        step = self.step or current_step
        parts = {"step": lit(step), "class": lit(self.java_class), "message": self.message, "cause": self.cause}
        if self.thrown is not None:
            parts = {name: f"{self.thrown}.{name}" for name in parts}
            parts["step"] = f"coalesce(concat({lit('transform:')}, {self.thrown}.step), {lit(step)})"
        return call("named_struct", *(x for name, e in parts.items() for x in (lit(name), f"string({e})")))


class Learner(Protocol):
    """A converter or plugin that has to learn schemas of records before a chain can be compiled for them."""

    def learn(self, requests: Iterable[str], register: bool = True) -> None: ...  # noqa: D102


class CompileContext:
    """Collects the faults of the step that is being compiled; `reached_when`: the condition that a record reaches it, None:
    always.
    """

    def __init__(self, scope: Scope, chain: int = 0) -> None:
        """chain: number of this chain among those that are compiled of the same steps; each learns schemas of its own."""
        self.chain = chain
        self.scope = scope
        self.reached_when: Sql | None = None
        self.failures: list[Sql] = []
        self.topic: Sql = "in_topic"  # the destination topic, once the steps are compiled
        self.headers: Sql = "in_headers"
        """Headers of the record that is read, later of the one that is written: converters in Java may change them (KIP-440)."""
        self.schema_requests: dict[str, Sql] = {}
        self.learned_schemas: dict[str, Callable[[], str]] = {}
        self.learners: dict[str, Learner] = {}
        """The requester of a schema, where it is not the converter that writes the key or the value."""
        self.schema_unknown: list[Sql] = []
        """Conditions under which a part of a record could not be read because its schema is not known yet."""
        self.incomplete = False
        """Whether no schema of the output of some step is known yet: then the steps after it are not compiled."""
        self._faults: list[Fault] = []
        self._failures_of: dict[str, list[Sql]] = {}
        """By step, what steps before it have found that it fails with."""
        self._within: Sql | None = None
        self._reported_for: str | None = None

    def fail(self, when: Sql | None, message: Sql, java_class: str = DATA, cause: Sql = "NULL") -> None:
        """Records for which the condition holds fail at the current step, with the first of its faults that applies."""
        condition = all_of(self._within, when)
        if condition != NEVER:
            self._faults.append(Fault(condition, java_class, message, cause, step=self._reported_for))

    def fail_with(self, failure: Sql) -> None:
        """Records for which this column is not NULL fail with the exception of a plugin (`Fault.thrown`)."""
        self._faults.append(
            Fault(all_of(self._within, f"({failure} IS NOT NULL)"), DATA, "NULL", thrown=failure, step=self._reported_for)
        )

    def fail_before(self, failure: Sql) -> None:
        """Records for which this column, of FAILURE_TYPE, is not NULL have failed before the first step."""
        self.failures.append(failure)
        self.reached_when = f"({failure} IS NULL)"

    def step_condition(self) -> Sql | None:
        """The condition under which the current step processes a record: it reaches it, and its schema is known. None: always."""
        return all_of(
            self.reached_when,
            self._within,
            *(f"(NOT coalesce({schema_unknown}, false))" for schema_unknown in self.schema_unknown),
        )

    @contextmanager
    def where(self, condition: Sql | None) -> Iterator[None]:
        """Faults that are reported inside apply only to records for which the condition holds."""
        outer, self._within = self._within, all_of(self._within, condition)
        yield
        self._within = outer

    @contextmanager
    def reported_for(self, step: str) -> Iterator[None]:
        """Faults that are reported inside are those of another step, which Kafka Connect runs later: `output.headers`."""
        outer, self._reported_for = self._reported_for, step
        yield
        self._reported_for = outer

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Compile one step: faults that `fail` reports inside belong to it."""
        outer, self._faults = self._faults, []
        for failure in self._failures_of.pop(name, []):
            self._stop_at(self.scope.bind(case([(self.reached_when, failure)])))
        yield
        faults, self._faults = self._faults, outer
        for later in dict.fromkeys(fault.step for fault in faults if fault.step is not None):
            failure = self._first_of(name, [fault for fault in faults if fault.step == later])
            self._failures_of.setdefault(later, []).append(failure)
        own = [fault for fault in faults if fault.step is None]
        if own:
            self._stop_at(self._first_of(name, own))

    def _first_of(self, step: str, faults: list[Fault]) -> Sql:
        return self.scope.bind(case([(all_of(self.reached_when, f.when), f.sql(step)) for f in faults]))

    def _stop_at(self, failure: Sql) -> None:
        self.failures.append(failure)
        self.reached_when = self.scope.bind(all_of(self.reached_when, f"({failure} IS NULL)") or "true")

    def request_schema(self, part: str, request: Sql, learned: Callable[[], str]) -> None:
        """Request the schema that has to be learned before the key, or the value, of a record can be written.

        request: the text of the request, NULL if none is needed; learned: returns the literal with all schemas learned so far, as
        it stands in the chain.
        """
        self.schema_requests[part], self.learned_schemas[part] = request, learned

    def request_schema_for(self, learner: Learner, request: Sql) -> None:
        """Request a schema that a step within the chain needs."""
        name = f"within{len(self.schema_requests)}"
        self.schema_requests[name], self.learners[name] = request, learner

    def drop(self, condition: Sql | None) -> None:
        """Records for which the condition holds are dropped: later steps do not process them."""
        if condition != NEVER:
            self.reached_when = self.scope.bind(all_of(self.reached_when, negated(condition)) or "true")

    def failure(self) -> Sql:
        """The first failure of a record, NULL if there is none."""
        none = f"cast(NULL as {FAILURE_TYPE})"
        failures = [*self.failures, *(failure for of_step in self._failures_of.values() for failure in of_step)]
        return call("coalesce", *failures, none) if failures else none
