"""Not: records for which a named predicate does not hold."""

from __future__ import annotations

from headrace.config import Importance, Type, option
from headrace.config.example import EUROPEAN, Example
from headrace.config.validators import NonEmptyString
from headrace.plugins import Kind, plugin
from headrace.predicates.combination import Combination
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, negated


@plugin("headrace.predicates.Not", Kind.PREDICATE)
class Not(Combination):
    """Holds for records for which another predicate does not hold."""

    examples = (Example({"predicate": "eu"}, {"topic": "us-orders", "value": 1}, True, EUROPEAN),)

    refers_by = "predicate"

    predicate: str = option(
        "predicate",
        Type.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        doc="The alias of the predicate that must not hold.",
    )

    def test(self, record: ConnectRecord) -> Sql:
        """Whether it does not hold."""
        return negated(record.context.scope.bind(self.parts[0].test(record))) or "true"
