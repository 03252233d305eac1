"""The plans of a feed's chain: one shared by all feeds that do the same, and others for schemas that come with records."""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headrace.connectors.feed import FeedSource
from headrace.converters.base import Writers
from headrace.errors import ConnectError
from headrace.runtime.chain import FeedChain, source_steps
from headrace.runtime.plan import TaskPlan
from headrace.runtime.sink.chain import sink_record, sink_steps
from headrace.runtime.sink.plan import SinkPlan
from headrace.spark import plane
from headrace.values.sql import Sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_PLANS = 512  # that are kept; one that was not asked for as long is made again if a record needs it


@dataclass
class _KnownChain:
    """A chain that knows some schemas."""

    chain: FeedChain
    needs: set[str] = field(default_factory=set)
    """Of the records that it reads."""
    plan: Any = None
    """None: it has to be made."""
    literals: dict[str, str] = field(default_factory=dict)
    """Of the plan (`FeedChain.literals`)."""

    def planned(self, columns: DataFrame) -> Any:
        """The plan, with what is known by now: new literals take a moment. Raises ConnectError if it does not go record by
        record.
        """
        texts = self.chain.literals() if self.plan is not None else {}
        for part, text in texts.items():
            if self.plan is not None and text != self.literals[part]:
                self.plan = self.plan.withText(self.literals[part], text)
        self.literals = texts
        if self.plan is None:
            plan = self.chain.plan(columns)
            if isinstance(plan, str):
                raise ConnectError(f"The chain cannot go record by record for a new schema: {plan}")
            self.plan, self.literals = plan, self.chain.literals()
        return self.plan

    def forget(self) -> None:
        """Keep nothing but the names of what it knows."""
        self.plan, self.literals = None, {}
        self.chain.forget()

    def learn(self, need: Mapping[str, Any]) -> None:
        """Learn what a record needs. Raises RetriableError if that cannot be done now."""
        if self.chain.outdates_plan(need):
            self.plan = None
        self.chain.learn_need(need)


class FeedPlans:
    """The plans of one run of a task (`headrace.spark.plane.plan_of`)."""

    def __init__(
        self, spark: SparkSession, chain: Callable[[DataFrame], FeedChain], writers: Writers, made_from: tuple[Any, ...] | None
    ) -> None:
        """chain: gives the chain over a lane's columns; writers: what it writes with; made_from: all that it is made from, equal
        for chains that are the same; None if that is not known.
        """
        self._spark, self._chain_of, self._writers, self._made_from = spark, chain, writers, made_from
        self._kept: OrderedDict[int, _KnownChain] = OrderedDict()  # with a plan, by number; those asked for last at the end

    def first(self) -> Any | str:
        """The plan before any record was read; a text if the chain does not go record by record: the operator that does not.

        Spark takes a tenth of a second of CPU time for a plan, so feeds whose chains are the same share one.
        """
        key = self._key()
        return self._make() if key is None else plane.data_plane(self._spark).shared_plan(key, self._make)

    def after(self, needs: Iterable[str]) -> list[tuple[Any, list[str]]]:
        """Plans that know what records need (`FeedChain.lane_columns`), and what each of them knows.

        needs: in the order of the records: schemas are registered in it, and a registry may take each only after the one before.

        A plan knows a few dozen schemas, and a feed has as many plans as it takes: the next schema makes a short one longer, and
        never a long one. Raises ConnectError if a plan does not go record by record, RetriableError if a schema cannot be asked
        for now.
        """
        asked = [self._learned(need) for need in needs]
        return [
            (self._planned(known_chain), sorted(known_chain.needs))
            for known_chain in {id(known_chain): known_chain for known_chain in asked}.values()
        ]

    @property
    def renew_at(self) -> float:
        """When `renewed` may find something else, by time.monotonic; infinite: never."""
        return min(self._writers.key.renew_at, self._writers.value.renew_at)

    def renewed(self) -> list[tuple[Any, list[str]]]:
        """The plans, as `after` has them, for which something else holds now (latest.cache.ttl.sec); raises what it does."""
        if not self._chain.renew():
            return []
        # one without a plan has something to learn first
        planned = [known_chain for known_chain in self._kept.values() if known_chain.plan is not None]
        return [(self._planned(known_chain), sorted(known_chain.needs)) for known_chain in planned]

    def again(self) -> Any:
        """The plan that knows the schemas that were met last. Raises ConnectError if it does not go record by record."""
        return self._planned(self._chains[-1])

    def _planned(self, known_chain: _KnownChain) -> Any:
        """The plan of a chain; that of the one that was asked for longest ago is forgotten. Raises what `again` does."""
        plan = known_chain.planned(self._columns)
        self._kept[known_chain.chain.number] = known_chain
        self._kept.move_to_end(known_chain.chain.number)
        if len(self._kept) > _PLANS:
            self._kept.popitem(last=False)[1].forget()
        return plan

    def _learned(self, need: str) -> _KnownChain:
        """The chain that knows what a record needs."""
        asked = json.loads(need)
        number = asked.pop("chain", None)
        if number is not None:
            known_chain = self._chains[int(number)]
        else:
            knows = (known_chain for known_chain in self._chains if need in known_chain.needs or known_chain.chain.knows(asked))
            known_chain = next(knows, None) or self._with_room()
            known_chain.needs.add(need)
        if number is not None or not known_chain.chain.knows(asked):
            known_chain.learn(asked)
        return known_chain

    def _with_room(self) -> _KnownChain:
        if self._chains[-1].chain.is_full:
            self._chains.append(_KnownChain(self._chain.another(len(self._chains))))
        return self._chains[-1]

    def _make(self) -> Any | str:
        return self._chain.plan(self._columns)

    @cached_property
    def _chains(self) -> list[_KnownChain]:
        return [_KnownChain(self._chain)]

    @cached_property
    def _columns(self) -> DataFrame:
        return plane.columns(self._spark)

    @cached_property
    def _chain(self) -> FeedChain:
        return self._chain_of(self._columns)

    def _key(self) -> bytes | None:
        if self._made_from is None:
            return None
        try:
            return pickle.dumps(self._made_from)
        except Exception:  # a user's own transform or converter may hold anything
            return None


def source_plans(spark: SparkSession, plan: TaskPlan, source: FeedSource) -> FeedPlans:
    """Those of a source task."""
    made_from = (source.record_key, plan.source_key_converter, plan.source_value_converter, *_chain_parts(plan))
    return FeedPlans(
        spark,
        lambda columns: FeedChain(source_steps(plan, record := source.record(columns)), record),
        plan.converters,
        None if source.record_key is None or _registers(plan.converters) else made_from,
    )


def sink_plans(spark: SparkSession, plan: SinkPlan, writers: Writers, written: Mapping[str, Sql]) -> FeedPlans:
    """Those of the task of a sink that writes to Kafka.

    writers: what makes keys, values and headers; written: see `FeedChain`.
    """
    return FeedPlans(
        spark,
        lambda columns: FeedChain(sink_steps(plan, writers), sink_record(columns), written),
        writers,
        None if _registers(writers) else ("sink", writers, sorted(written.items()), *_chain_parts(plan)),
    )


def _registers(writing: Writers) -> bool:
    """Whether the chain's writers know the schemas of the chain that they were compiled for, as those with a registry do."""
    return writing.key.registers or writing.value.registers


def _chain_parts(plan: TaskPlan | SinkPlan) -> tuple[Any, ...]:
    letters = plan.tolerance.dead_letters
    who = (plan.connector, plan.task) if letters is not None and letters.context else None
    return plan.stages, plan.converters, plan.tolerance, who
