"""RecordIsTombstone: records whose value is null."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.config.example import Example
from headrace.plugins import Kind, plugin
from headrace.predicates.base import Predicate
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, all_of, any_of


@plugin("org.apache.kafka.connect.transforms.predicates.RecordIsTombstone", Kind.PREDICATE)
class RecordIsTombstone(Predicate):
    """Holds for tombstones, records whose value is null."""

    examples = (
        Example({}, {"value": None}, True),
        Example({}, {"value": 1}, False),
    )

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The value."""
        return [("value",)]

    def test(self, record: ConnectRecord) -> Sql:
        """Whether the value is null, whatever its schema."""
        return any_of(all_of(a.when, a.value.is_null()) for a in record.value) or "true"
