"""Sql: records for which a Spark SQL expression is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import NonEmptyString
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin
from headrace.predicates.base import Predicate
from headrace.values.expressions import Expression, evaluate
from headrace.values.sql import Sql as SqlText
from headrace.values.sql_references import references

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from headrace.values.record import ConnectRecord


@plugin("headrace.predicates.Sql", Kind.PREDICATE)
class SqlPredicate(Predicate):
    """Holds for records for which a Spark SQL condition is true; NULL counts as false. A record for which it fails, fails."""

    examples = (
        Example({"condition": "value:amount::double > 100"}, {"value": {"amount": 150}}, True),
        Example({"condition": "value:amount::double > 100"}, {"value": {}}, False),
    )

    condition: str = option(
        "condition",
        Type.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="A condition over the columns that an expression of <code>headrace.transforms.Sql</code> sees: "
        "<code>topic</code>, <code>partition</code>, <code>offset</code>, <code>timestamp</code>, "
        "<code>headers</code>, <code>key</code> and <code>value</code>, for example "
        "<code>value:amount::double > 100 AND topic LIKE 'orders-%'</code>.",
    )

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The columns that the condition refers to."""
        return list(references(self.condition))

    def test(self, record: ConnectRecord) -> SqlText:
        """Whether the condition is true."""
        expression = Expression(self.prefix + "condition", self.condition, fit=boolean)
        return f"coalesce({evaluate(record, {'condition': expression})['condition'].sql}, false)"


def boolean(column: Column, type_: DataType) -> Column:
    """The fit of a condition: BOOLEAN. Raises ConfigError for another type."""
    from pyspark.sql.types import BooleanType, NullType

    if not isinstance(type_, (BooleanType, NullType)):
        raise ConfigError(f"It gives {type_.simpleString().upper()}, not BOOLEAN; compare or cast it")
    return column.cast("boolean")
