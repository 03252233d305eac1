"""HasHeaderKey: records with a header of a name."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.config.validators import NonEmptyString
from headrace.plugins import Kind, plugin
from headrace.predicates.base import Predicate
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, lit


@plugin("org.apache.kafka.connect.transforms.predicates.HasHeaderKey", Kind.PREDICATE)
class HasHeaderKey(Predicate):
    """Holds for records with at least one header of the configured name."""

    examples = (
        Example({"name": "trace"}, {"headers": {"trace": "1"}, "value": 1}, True),
        Example({"name": "trace"}, {"headers": {"app": "1"}, "value": 1}, False),
    )

    name: str = option("name", Type.STRING, validator=NonEmptyString(), doc="The header name.")

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The header."""
        return [("headers", self.name)]

    def test(self, record: ConnectRecord) -> Sql:
        """Whether one of the headers has the name."""
        return f"coalesce(array_contains({record.context.scope.bind(record.headers)}.key, {lit(self.name)}), false)"
