"""RegexRouter: changes a record's topic: one that a Java regular expression matches as a whole becomes the replacement."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Importance, Type, option
from headrace.config.example import Example
from headrace.config.validators import Regex
from headrace.plugins import Kind, plugin
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import Influence
from headrace.values.sql import call, lit

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


@plugin("org.apache.kafka.connect.transforms.RegexRouter", Kind.TRANSFORMATION)
class RegexRouter(Transformation):
    """Changes a record's topic: one that a Java regular expression matches as a whole becomes the replacement."""

    examples = (
        Example({"regex": "(.*)-v1", "replacement": "$1-v2"}, {"topic": "orders-v1", "value": 1}, {"topic": "orders-v2"}),
    )

    routes = "by topic"

    regex: str = option(
        "regex", Type.STRING, validator=Regex(), importance=Importance.HIGH, doc="Regular expression to use for matching."
    )
    replacement: str = option("replacement", Type.STRING, importance=Importance.HIGH, doc="Replacement string.")

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """The topic is made of the topic."""
        return record.with_part("topic", record["topic"].by(Influence.TRANSFORMATION))

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Route; a replacement that names a group which is not there fails the record, as in Kafka."""
        run = record.run
        topic = run.scope.bind(call("headrace_regex_replace", record.topic, lit(self.regex), lit(self.replacement)))
        message, java_class = _why(self.replacement)
        run.fail(f"({record.topic} IS NOT NULL AND {topic} IS NULL)", lit(message), java_class)
        return replace(record, topic=topic)


def _why(replacement: str) -> tuple[str, str]:
    """What Java says, and the class of its exception, when a replacement cannot be used."""
    at = 0
    while at < len(replacement):
        if replacement[at] == "\\":
            if at == len(replacement) - 1:
                return "character to be escaped is missing", "java.lang.IllegalArgumentException"
            at += 1
        at += 1
    named = re.search(r"\$\{(\w+)\}", replacement)
    if named:
        return f"No group with name {{{named[1]}}}", "java.lang.IllegalArgumentException"
    numbered = re.findall(r"\$(\d)", replacement)
    if numbered:
        return f"No group {max(numbered)}", "java.lang.IndexOutOfBoundsException"
    return "Illegal group reference", "java.lang.IllegalArgumentException"
