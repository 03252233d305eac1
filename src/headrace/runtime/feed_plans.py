"""The plans of a feed's chain: one shared by all feeds that do the same, and others for schemas that come with records."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import FeedSource
from headrace.errors import ConnectError
from headrace.runtime.chain import FeedChain
from headrace.runtime.plan import TaskPlan
from headrace.spark import plane

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FeedPlans:
    """The plans of one run of a task (`headrace.spark.plane.plan_of`)."""

    def __init__(self, spark: SparkSession, plan: TaskPlan, source: FeedSource) -> None:
        self._spark, self._plan, self._source = spark, plan, source

    def first(self) -> Any | str:
        """The plan before any record was read; a text if the chain does not go record by record: the operator that does not.

        Spark takes a tenth of a second of CPU time for a plan, so feeds whose chains are the same share one.
        """
        key = self._key()
        return self._make() if key is None else plane.data_plane(self._spark).shared_plan(key, self._make)

    def after(self, texts: Mapping[str, Iterable[str]]) -> Any:
        """The plan that knows these schemas, too, of `key` and `value`. Raises ConnectError as `again` does."""
        self._chain.learn_texts(texts)
        return self.again()

    def again(self) -> Any:
        """The plan that knows the schemas that were met. Raises ConnectError if it does not go record by record."""
        plan = self._make()
        if isinstance(plan, str):
            raise ConnectError(f"The chain cannot go record by record for a new schema: {plan}")
        return plan

    def _make(self) -> Any | str:
        return plane.plan_of(self._chain.lane_columns(self._columns))

    @cached_property
    def _columns(self) -> DataFrame:
        return plane.columns(self._spark)

    @cached_property
    def _chain(self) -> FeedChain:
        return FeedChain(self._plan, self._source.record(self._columns))

    def _key(self) -> bytes | None:
        """Equal for chains that are the same, None if that cannot be said: all that a chain is made from (`SourceChain`)."""
        plan, source = self._plan, self._source
        if source.record_key is None:
            return None
        letters = plan.tolerance.dead_letters
        who = (plan.connector, plan.task) if letters is not None and letters.context else None
        made_from = (
            source.record_key,
            plan.stages,
            plan.converters,
            plan.source_key_converter,
            plan.source_value_converter,
            plan.tolerance,
            who,
        )
        try:
            return pickle.dumps(made_from)
        except Exception:  # a user's own transform or converter may hold anything
            return None
