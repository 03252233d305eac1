"""TimestampRouter: renames a record's topic by a format with the topic and the record's timestamp."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.date_pattern import date_pattern
from headrace.values.sql import call, concat, lit

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


@plugin("org.apache.kafka.connect.transforms.TimestampRouter", Kind.TRANSFORMATION)
class TimestampRouter(Transformation):
    """Renames a record's topic by a format with the topic and the record's timestamp."""

    examples = (
        Example(
            {"timestamp.format": "yyyyMM"},
            {"topic": "orders", "timestamp": 1577934240000, "value": 1},
            {"topic": "orders-202001"},
        ),
    )

    topic_format: str = option(
        "topic.format",
        Type.STRING,
        "${topic}-${timestamp}",
        importance=Importance.HIGH,
        doc="Format string which can contain <code>${topic}</code> and <code>${timestamp}</code> as placeholders for "
        "the topic and timestamp, respectively.",
    )
    timestamp_format: str = option(
        "timestamp.format",
        Type.STRING,
        "yyyyMMdd",
        importance=Importance.HIGH,
        doc="Format string for the timestamp that is compatible with <code>java.text.SimpleDateFormat</code>.",
    )

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The topic comes from the topic and the timestamp."""
        return record.opaque(("topic",), ("topic", "timestamp"))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Format the new topic from the old topic and the record's timestamp."""
        context = record.context
        missing = call("concat", lit("Timestamp missing on record: topic='"), record.topic, lit("'"))
        context.fail(f"({record.timestamp} IS NULL)", missing)
        try:
            date_pattern(self.timestamp_format)
        except ValueError as error:
            context.fail(None, lit(str(error)), "java.lang.IllegalArgumentException")
            return record
        time = call("headrace_date_format", record.timestamp, lit(self.timestamp_format))
        pieces = [
            record.topic if part == "${topic}" else lit(part) for part in re.split(r"(\$\{topic\})", self.topic_format) if part
        ]
        # The topic is put in first: a timestamp is put in where it makes the placeholder for one, too.
        return replace(record, topic=call("replace", concat(*pieces), lit("${timestamp}"), time) if pieces else "''")
