"""Filter: drops all records; used with a predicate that selects them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config.example import EUROPEAN, Example
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


@plugin("org.apache.kafka.connect.transforms.Filter", Kind.TRANSFORMATION)
class Filter(Transformation):
    """Drops all records; used with a predicate that selects them."""

    examples = (
        Example({"predicate": "eu"}, {"topic": "eu-orders", "value": 1}, None, EUROPEAN),
        Example({"predicate": "eu"}, {"topic": "us-orders", "value": 1}, {"value": 1}, EUROPEAN),
    )

    routes = "no"
    drops = True

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The remaining records are not changed."""
        return record

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Drop the record."""
        return replace(record, dropped=None)
