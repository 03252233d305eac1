"""Or: records for which one of some named predicates holds."""

from __future__ import annotations

from headrace.config import Importance, Type, option
from headrace.config.example import EUROPEAN, Example
from headrace.config.validators import ValidList
from headrace.plugins import Kind, plugin
from headrace.predicates.combination import Combination
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, any_of, negated


@plugin("headrace.predicates.Or", Kind.PREDICATE)
class Or(Combination):
    """Holds for records for which one of some predicates holds. Evaluated in order, up to the first that holds."""

    examples = (
        Example(EUROPEAN, {"topic": "us-orders", "value": None}, True, EUROPEAN),
        Example(EUROPEAN, {"topic": "us-orders", "value": 1}, False, EUROPEAN),
    )

    refers_by = "predicates"

    predicates: list[str] = option(
        "predicates",
        Type.LIST,
        validator=ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="The aliases of the predicates of which one has to hold.",
    )

    def test(self, record: ConnectRecord) -> Sql:
        """Whether one holds."""
        holds: list[Sql] = []
        for part in self.parts:
            with record.context.where(negated(any_of(holds))):
                holds.append(record.context.scope.bind(part.test(record)))
        return any_of(holds) or "true"
