"""RegexRouter: renames a record's topic if a Java regular expression matches the whole name."""

from __future__ import annotations

from dataclasses import replace

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import Regex
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import Influence, RecordLineage
from headrace.values.record import ConnectRecord
from headrace.values.sql import call, case, lit


@plugin("org.apache.kafka.connect.transforms.RegexRouter", Kind.TRANSFORMATION)
class RegexRouter(Transformation):
    """Renames a record's topic to the replacement if a Java regular expression matches the whole name."""

    examples = (
        Example({"regex": "(.*)-v1", "replacement": "$1-v2"}, {"topic": "orders-v1", "value": 1}, {"topic": "orders-v2"}),
    )

    routes = "by topic"

    regex: str = option(
        "regex",
        Type.STRING,
        validator=Regex(in_java=True),
        importance=Importance.HIGH,
        doc="Regular expression to use for matching.",
    )
    replacement: str = option("replacement", Type.STRING, importance=Importance.HIGH, doc="Replacement string.")

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The topic comes from the topic."""
        return record.with_part("topic", record["topic"].by(Influence.TRANSFORMATION))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Rename the topic; a replacement that names a group which does not exist fails the record, as in Kafka."""
        context = record.context
        topic = context.scope.bind(call("headrace_regex_replace", record.topic, lit(self.regex), lit(self.replacement)))
        wrong_pattern = call("headrace_regex_problem", record.topic, lit(self.regex), lit(self.replacement))
        problem = context.scope.bind(case([(f"({record.topic} IS NOT NULL AND {topic} IS NULL)", wrong_pattern)]))
        for java_class in ("java.lang.IllegalArgumentException", "java.lang.IndexOutOfBoundsException"):
            start = f"{java_class}: "
            context.fail(f"startswith({problem}, {lit(start)})", call("substring", problem, str(len(start) + 1)), java_class)
        return replace(record, topic=topic)
