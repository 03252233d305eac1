"""TopicNameMatches: records of topics whose name matches a pattern."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.config.validators import All, NonEmptyString, Regex
from headrace.plugins import Kind, plugin
from headrace.predicates.base import Predicate
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, lit


@plugin("org.apache.kafka.connect.transforms.predicates.TopicNameMatches", Kind.PREDICATE)
class TopicNameMatches(Predicate):
    """Holds for records whose topic's whole name matches a Java regular expression."""

    examples = (
        Example({"pattern": "eu-.*"}, {"topic": "eu-orders", "value": 1}, True),
        Example({"pattern": "eu"}, {"topic": "eu-orders", "value": 1}, False),
    )

    by_topic = True

    pattern: str = option(
        "pattern",
        Type.STRING,
        validator=All(NonEmptyString(), Regex(in_java=True)),
        doc="A Java regular expression for matching against the name of a record's topic.",
    )

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The topic."""
        return [("topic",)]

    def test(self, record: ConnectRecord) -> Sql:
        """Whether the whole topic matches."""
        return f"coalesce(headrace_regex_matches({record.topic}, {lit(self.pattern)}), false)"
