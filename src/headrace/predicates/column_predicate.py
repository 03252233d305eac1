"""ColumnPredicate: the base of predicates that users write in Python, as a function of Spark Columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from headrace.config import Config
from headrace.plugin_metrics import PluginMetrics
from headrace.plugins import Kind
from headrace.predicates.base import Predicate
from headrace.predicates.sql import boolean
from headrace.sql_functions import F
from headrace.values.columns import NAMES, Columns
from headrace.values.expressions import Expression, evaluate

if TYPE_CHECKING:
    from pyspark.sql import Column

    from headrace.values.record import ConnectRecord
    from headrace.values.sql import Sql


class ColumnPredicate(Config, ABC):
    """A user's predicate, configured by its dotted name: `predicates.<alias>.type=my_module.MyPredicate`.

    `test` runs once, on the driver, when the stream is defined; the Column that it returns runs in the one pass of the chain.

        class Large(ColumnPredicate):
            limit: int = option("limit", Type.INT, doc="What the amount has to exceed.")

            def test(self, record: Columns) -> Column:
                return F.try_variant_get(record.value, "$.amount", "double") > self.limit
    """

    plugin_kind: ClassVar[Kind] = Kind.PREDICATE
    version: ClassVar[str | None] = None

    def with_plugin_metrics(self, metrics: PluginMetrics) -> None:
        """Register the plugin's metrics (KIP-877); called on the driver, before the task runs. For subclasses."""

    @abstractmethod
    def test(self, record: Columns) -> Column:
        """Return a boolean Column: true where the predicate holds; NULL counts as false."""


class ColumnPredicateStage(Predicate):
    """The predicate of a chain that calls a ColumnPredicate."""

    def __init__(self, user: ColumnPredicate, prefix: str) -> None:
        super().__init__({}, prefix)
        self.user = user

    def test(self, record: ConnectRecord) -> Sql:
        """Whether the user's Column is true."""
        column = self.user.test(Columns(*(F.col(name) for name in NAMES)))
        expression = Expression(self.prefix + "type", type(self.user).__qualname__, column, fit=boolean)
        return f"coalesce({evaluate(record, {'test': expression})['test'].sql}, false)"
