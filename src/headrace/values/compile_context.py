"""The compilation of one chain: names, the record's progress through the steps, and what can go wrong at each."""

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
    """Something that goes wrong with the records of a condition (None: with all); message and cause are SQL texts."""

    when: Sql | None
    java_class: str
    message: Sql
    cause: Sql = "NULL"
    thrown: Sql | None = None
    """What a plugin has thrown: a column of FAILURE_TYPE, which takes the place of class, message and cause; its `step` is the
    alias of the transform, NULL for the present step."""

    def sql(self, step: str) -> Sql:
        """The failure as a struct of FAILURE_TYPE."""
        parts = {"step": lit(step), "class": lit(self.java_class), "message": self.message, "cause": self.cause}
        if self.thrown is not None:
            parts = {name: f"{self.thrown}.{name}" for name in parts}
            parts["step"] = f"coalesce(concat({lit('transform:')}, {self.thrown}.step), {lit(step)})"
        return call("named_struct", *(x for name, e in parts.items() for x in (lit(name), f"string({e})")))


class Learner(Protocol):
    """What has to know something of records before a chain can be compiled for them."""

    def learn(self, wanted: Iterable[str], register: bool = True) -> None: ...  # noqa: D102


class CompileContext:
    """Collects the faults of the step that is being compiled; `alive` is when a record reaches it (None: always)."""

    def __init__(self, scope: Scope, chain: int = 0) -> None:
        """chain: which of the chains that are compiled of the same steps; each learns schemas of its own."""
        self.chain = chain
        self.scope = scope
        self.alive: Sql | None = None
        self.failures: list[Sql] = []
        self.topic: Sql = "in_topic"  # that the record goes to, once the steps are compiled
        self.headers: Sql = "in_headers"
        """Of the record as it is read, and as it is written: converters in Java may change them (KIP-440)."""
        self.asked: dict[str, Sql] = {}
        self.known: dict[str, Callable[[], str]] = {}
        self.learners: dict[str, Learner] = {}
        """Who has asked, where that is not the converter of the key, or of the value, that is written."""
        self.unknown: list[Sql] = []
        """Conditions under which a part of a record could not be read, since its schema is not known yet."""
        self.incomplete = False
        """Whether nothing is known yet of what some step makes: the steps behind it are left out."""
        self._faults: list[Fault] = []
        self._within: Sql | None = None

    def fail(self, when: Sql | None, message: Sql, java_class: str = DATA, cause: Sql = "NULL") -> None:
        """Records for which the condition holds fail at the present step, unless an earlier fault of it takes them."""
        condition = all_of(self._within, when)
        if condition != NEVER:
            self._faults.append(Fault(condition, java_class, message, cause))

    def fail_with(self, failure: Sql) -> None:
        """Records for which this column is not NULL fail with what a plugin has thrown (`Fault.thrown`)."""
        self._faults.append(Fault(all_of(self._within, f"({failure} IS NOT NULL)"), DATA, "NULL", thrown=failure))

    def reached(self) -> Sql | None:
        """When the present step has to do with a record: it is there, and known. None: always."""
        return all_of(self.alive, self._within, *(f"(NOT coalesce({unknown}, false))" for unknown in self.unknown))

    @contextmanager
    def only(self, condition: Sql | None) -> Iterator[None]:
        """Faults that are reported inside are those of records for which the condition holds."""
        outer, self._within = self._within, all_of(self._within, condition)
        yield
        self._within = outer

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Compile one step: what is reported by `fail` inside belongs to it."""
        outer, self._faults = self._faults, []
        yield
        faults, self._faults = self._faults, outer
        if not faults:
            return
        failure = self.scope.bind(case([(all_of(self.alive, f.when), f.sql(name)) for f in faults]))
        self.failures.append(failure)
        self.alive = self.scope.bind(all_of(self.alive, f"({failure} IS NULL)") or "true")

    def ask(self, part: str, wanted: Sql, known: Callable[[], str]) -> None:
        """The text of what has to be known before the key, or the value, of a record can be written; NULL for none.

        known: gives the literal that what is known of it is in the chain; another one once more is known.
        """
        self.asked[part], self.known[part] = wanted, known

    def ask_for(self, learner: Learner, wanted: Sql) -> None:
        """The same of what has to be known in the midst of a chain."""
        name = f"within{len(self.asked)}"
        self.asked[name], self.learners[name] = wanted, learner

    def drop(self, condition: Sql | None) -> None:
        """Records for which the condition holds go no further."""
        if condition != NEVER:
            self.alive = self.scope.bind(all_of(self.alive, negated(condition)) or "true")

    def failure(self) -> Sql:
        """The first failure of a record, NULL if there is none."""
        none = f"cast(NULL as {FAILURE_TYPE})"
        return call("coalesce", *self.failures, none) if self.failures else none
