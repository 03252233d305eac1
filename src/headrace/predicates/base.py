"""What a predicate is: a yes or no about a record, as a Column (Kafka's `Predicate`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from headrace.config import Config
from headrace.config.example import Example
from headrace.plugins import Kind

if TYPE_CHECKING:
    from headrace.values.record import ConnectRecord
    from headrace.values.sql import Sql


class Predicate(Config, ABC):
    """One predicate; its options are attributes. Every use of it in a chain has an instance of its own.

    It is made of the settings under `predicates.<alias>.`, prefix taken off; unknown keys are ignored. Raises ConfigError.
    """

    version: ClassVar[str | None] = None
    plugin_kind: ClassVar[Kind] = Kind.PREDICATE
    examples: ClassVar[Sequence[Example]] = ()
    """What it does; printed in the docs, and run by a test."""
    prefix: str = ""
    """Where the options stand in the connector's configuration (`predicates.<alias>.`), for messages."""
    by_topic: bool = False
    """Whether the topic alone decides."""

    @abstractmethod
    def test(self, record: ConnectRecord) -> Sql:
        """Return a boolean expression, never NULL: true where the predicate holds; runs once, when the stream is defined."""

    def reads(self) -> Sequence[tuple[str, ...]]:
        """The columns of the record that it looks at, as paths (`value`, `address`, `city`); by default it may be every part."""
        return [("topic",), ("partition",), ("offset",), ("timestamp",), ("key",), ("value",), ("headers",)]
