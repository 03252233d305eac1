"""And: records for which every one of some named predicates holds."""

from __future__ import annotations

from headrace.config import Importance, Type, option
from headrace.config.example import EUROPEAN, Example
from headrace.config.validators import ValidList
from headrace.plugins import Kind, plugin
from headrace.predicates.combination import Combination
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, all_of


@plugin("headrace.predicates.And", Kind.PREDICATE)
class And(Combination):
    """Holds for records for which all of some predicates hold. Evaluated in order, up to the first that does not hold."""

    examples = (
        Example(EUROPEAN, {"topic": "eu-orders", "value": None}, True, EUROPEAN),
        Example(EUROPEAN, {"topic": "eu-orders", "value": 1}, False, EUROPEAN),
    )

    refers_by = "predicates"

    predicates: list[str] = option(
        "predicates",
        Type.LIST,
        validator=ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="The aliases of the predicates that all have to hold.",
    )

    def test(self, record: ConnectRecord) -> Sql:
        """Whether all hold."""
        holds: list[Sql] = []
        for part in self.parts:
            with record.context.where(all_of(*holds)):
                holds.append(record.context.scope.bind(part.test(record)))
        return all_of(*holds) or "true"
