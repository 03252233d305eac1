"""The plans of a feed's chain: one is shared by feeds with equal chains; others cover schemas sent with the records."""

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


_MAX_PLANS = 512  # in memory; the least recently used one is dropped, and created again when a record needs it


@dataclass
class _PlannedChain:
    """A chain with some schemas, and its plan."""

    chain: FeedChain
    needs: set[str] = field(default_factory=set)
    """Needs of the records that it reads (`_schemas_of`)."""
    plan: Any = None
    """None: it has to be created."""
    literals: dict[str, str] = field(default_factory=dict)
    """Literals in the plan (`FeedChain.literals`)."""

    def updated_plan(self, columns: DataFrame) -> Any:
        """The plan with the current literals. Raises ConnectError if it cannot process single records."""
        texts = self.chain.literals() if self.plan is not None else {}
        for part, text in texts.items():
            if self.plan is not None and text != self.literals[part]:
                self.plan = self.plan.withText(self.literals[part], text)
        self.literals = texts
        if self.plan is None:
            plan = self.chain.plan(columns)
            if isinstance(plan, str):
                raise ConnectError(f"The chain cannot process single records of a new schema: {plan}")
            self.plan, self.literals = plan, self.chain.literals()
        return self.plan

    def drop_plan(self) -> None:
        """Drop the plan and the compiled chain; the schemas are kept."""
        self.plan, self.literals = None, {}
        self.chain.drop_compiled()

    def learn(self, need: Mapping[str, Any]) -> None:
        """Learn the schemas of a need. Raises RetriableError if the registry is not available."""
        if self.chain.outdates_plan(need):
            self.plan = None
        self.chain.learn_need(need)


class FeedPlans:
    """The plans of one run of a task (`headrace.spark.plane.plan_of`)."""

    def __init__(
        self, spark: SparkSession, chain: Callable[[DataFrame], FeedChain], writers: Writers, inputs: tuple[Any, ...] | None
    ) -> None:
        """chain: returns the chain over a lane's columns; writers: the chain's; inputs: everything that defines the chain, equal
        for equal chains; None if unknown: the plan is not shared.
        """
        self._spark, self._chain_of, self._writers, self._inputs = spark, chain, writers, inputs
        self._recently_used: OrderedDict[int, _PlannedChain] = OrderedDict()  # chains with a plan, by number

    def first(self) -> Any | str:
        """The plan without any schema; a text if the chain cannot process single records: the operator that cannot.

        Spark takes a tenth of a second of CPU time for a plan, so feeds with equal chains share one.
        """
        key = self._key()
        return self._create_plan() if key is None else plane.data_plane(self._spark).shared_plan(key, self._create_plan)

    def plans_for(self, needs: Iterable[str]) -> list[tuple[Any, list[str]]]:
        """Plans that cover these needs (`FeedChain.lane_columns`), each with all needs that it covers, without topics.

        needs: in the order of the records: schemas are registered in it, as a registry may accept a schema only after its
        predecessor. A plan covers a few dozen schemas, and a feed has as many plans as it takes. Raises ConnectError if a plan
        cannot process single records, RetriableError if the registry is not available.
        """
        chains = [self._chain_for(need) for need in needs]
        return [
            (self._plan_of(planned_chain), sorted(planned_chain.needs))
            for planned_chain in {id(planned_chain): planned_chain for planned_chain in chains}.values()
        ]

    @property
    def renew_at(self) -> float:
        """When cached schemas of the writers expire, by time.monotonic; infinite: never."""
        return min(self._writers.key.renew_at, self._writers.value.renew_at)

    def renewed(self) -> list[tuple[Any, list[str]]]:
        """Plans, as from `plans_for`, whose writers' schemas have changed (latest.cache.ttl.sec); raises what `plans_for`
        raises.
        """
        if not self._chain.renew():
            return []
        # chains without a plan have schemas to learn first
        updated_plan = [planned_chain for planned_chain in self._recently_used.values() if planned_chain.plan is not None]
        return [(self._plan_of(planned_chain), sorted(planned_chain.needs)) for planned_chain in updated_plan]

    def latest(self) -> Any:
        """The plan of the newest chain. Raises ConnectError if it cannot process single records."""
        return self._plan_of(self._chains[-1])

    def _plan_of(self, planned_chain: _PlannedChain) -> Any:
        """The plan of a chain; the least recently used plan is dropped. Raises what `latest` raises."""
        plan = planned_chain.updated_plan(self._columns)
        self._recently_used[planned_chain.chain.number] = planned_chain
        self._recently_used.move_to_end(planned_chain.chain.number)
        if len(self._recently_used) > _MAX_PLANS:
            self._recently_used.popitem(last=False)[1].drop_plan()
        return plan

    def _chain_for(self, need: str) -> _PlannedChain:
        """The chain that covers a need; it learns the schemas if they are new."""
        schemas, need_fields = _schemas_of(need), json.loads(need)
        number = need_fields.pop("chain", None)
        if number is not None:
            planned_chain = self._chains[int(number)]
        else:
            knows = (
                planned_chain
                for planned_chain in self._chains
                if schemas in planned_chain.needs or planned_chain.chain.knows(need_fields)
            )
            planned_chain = next(knows, None) or self._chain_with_room()
            planned_chain.needs.add(schemas)
        if number is not None or not planned_chain.chain.knows(need_fields):
            planned_chain.learn(need_fields)
        return planned_chain

    def _chain_with_room(self) -> _PlannedChain:
        if self._chains[-1].chain.is_full:
            self._chains.append(_PlannedChain(self._chain.new_chain(len(self._chains))))
        return self._chains[-1]

    def _create_plan(self) -> Any | str:
        return self._chain.plan(self._columns)

    @cached_property
    def _chains(self) -> list[_PlannedChain]:
        return [_PlannedChain(self._chain)]

    @cached_property
    def _columns(self) -> DataFrame:
        return plane.columns(self._spark)

    @cached_property
    def _chain(self) -> FeedChain:
        return self._chain_of(self._columns)

    def _key(self) -> bytes | None:
        if self._inputs is None:
            return None
        try:
            return pickle.dumps(self._inputs)
        except Exception:  # a user's own transform or converter may hold anything
            return None


def _schemas_of(need: str) -> str:
    """A need without the topic, its last member, as `Chains.java` knows it: a chain reads a schema of any topic."""
    end = need.rfind(',"topic":')
    return need if end < 0 else need[:end] + "}"


def source_plans(spark: SparkSession, plan: TaskPlan, source: FeedSource) -> FeedPlans:
    """The plans of a source task."""
    inputs = (source.record_key, plan.source_key_converter, plan.source_value_converter, *_chain_parts(plan))
    return FeedPlans(
        spark,
        lambda columns: FeedChain(source_steps(plan, record := source.record(columns)), record),
        plan.converters,
        None if source.record_key is None or _registers(plan.converters) else inputs,
    )


def sink_plans(spark: SparkSession, plan: SinkPlan, writers: Writers, written: Mapping[str, Sql]) -> FeedPlans:
    """The plans of the task of a sink that writes to Kafka. writers: of keys, values and headers; written: see `FeedChain`."""
    return FeedPlans(
        spark,
        lambda columns: FeedChain(sink_steps(plan, writers), sink_record(columns), written),
        writers,
        None if _registers(writers) else ("sink", writers, sorted(written.items()), *_chain_parts(plan)),
    )


def _registers(writing: Writers) -> bool:
    """Whether writers register schemas: then they keep those of the chain they were compiled for."""
    return writing.key.registers or writing.value.registers


def _chain_parts(plan: TaskPlan | SinkPlan) -> tuple[Any, ...]:
    letters = plan.tolerance.dead_letters
    who = (plan.connector, plan.task) if letters is not None and letters.context else None
    return plan.stages, plan.converters, plan.tolerance, who
