"""The base of predicates: a condition on a record, compiled to a Column (Kafka's `Predicate`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headrace.config import Config
from headrace.config.example import Example
from headrace.plugins import Kind
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql


class Predicate(Config, ABC):
    """One predicate; its options are attributes. Every use in a chain is a new instance.

    Created from the settings under `predicates.<alias>.`, without the prefix; unknown keys are ignored. Raises ConfigError.
    """

    version: ClassVar[str | None] = None
    plugin_kind: ClassVar[Kind] = Kind.PREDICATE
    examples: ClassVar[Sequence[Example]] = ()
    """Configurations with a record and the result; printed in the docs, and run by a test."""
    by_topic: bool = False
    """Whether the result depends on the topic alone."""

    def __init__(self, props: Mapping[str, Any], prefix: str = "") -> None:
        """prefix: of its options in the connector's configuration (`predicates.<alias>.`), for messages. Raises ConfigError."""
        self.prefix = prefix
        super().__init__(props)

    @abstractmethod
    def test(self, record: ConnectRecord) -> Sql:
        """Return a boolean expression, never NULL: true where the predicate holds; runs once, when the stream is defined."""

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The columns of the record that it reads, as paths (`value`, `address`, `city`); by default every part."""
        return [("topic",), ("partition",), ("offset",), ("timestamp",), ("key",), ("value",), ("headers",)]
