"""InsertHeader: adds a header to each record; the type of its value is inferred from the literal."""

from __future__ import annotations

from dataclasses import replace

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import NonNull
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import CONSTANT, RecordLineage
from headrace.values.literal import inferred
from headrace.values.record import ConnectRecord, append_header
from headrace.values.value import always


@plugin("org.apache.kafka.connect.transforms.InsertHeader", Kind.TRANSFORMATION)
class InsertHeader(Transformation):
    """Adds a header to each record; the type of its value is inferred from the literal."""

    examples = (
        Example(
            {"header": "site", "value.literal": "berlin"},
            {"headers": {"a": "1"}, "value": 1},
            {"headers": {"a": "1", "site": "berlin"}},
        ),
    )

    routes = "no"

    header: str = option("header", Type.STRING, validator=NonNull(), importance=Importance.HIGH, doc="The name of the header.")
    value_literal: str = option(
        "value.literal",
        Type.STRING,
        validator=NonNull(),
        importance=Importance.HIGH,
        doc="The literal value that is to be set as the header value on all records.",
    )

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The new header is a constant; headers of the same name stay."""
        return record.with_part("headers", record["headers"].appended(self.header, CONSTANT))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Append the header."""
        written = record.header(always(inferred(self.value_literal)), self.header)
        return replace(record, headers=append_header(record.headers, self.header, written))
