"""DropHeaders: removes one or more headers from each record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import ValidList
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.values.sql import call, lit

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


@plugin("org.apache.kafka.connect.transforms.DropHeaders", Kind.TRANSFORMATION)
class DropHeaders(Transformation):
    """Removes one or more headers from each record."""

    examples = (Example({"headers": "trace"}, {"headers": {"trace": "1", "app": "shop"}}, {"headers": {"app": "shop"}}),)

    routes = "no"

    headers: tuple[str, ...] = option(
        "headers",
        Type.LIST,
        convert=tuple,
        validator=ValidList(empty_ok=False),
        importance=Importance.HIGH,
        doc="The name of the headers to be removed.",
    )

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Headers without those that are dropped."""
        return record.with_part("headers", record["headers"].without(self.headers))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Keep the other headers, in order."""
        names = "".join("\0" + name for name in self.headers)
        return replace(record, headers=call("headrace_headers_without", record.headers, lit(names)))
