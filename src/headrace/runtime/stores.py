"""The stores that tasks need, as a worker is given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from headrace.connectors.base import SourceOffset, SourcePartition
from headrace.kafka.group_transactions import GroupMetadata
from headrace.spark.transactions import Entry


class OffsetStore(Protocol):
    """Stores source offsets; `put` returns once they are durable."""

    def get(self, connector: str, partitions: Sequence[SourcePartition]) -> list[tuple[SourcePartition, SourceOffset | None]]: ...  # noqa: D102

    @property
    def topic(self) -> str: ...  # noqa: D102

    def all(self, connector: str, answer_s: float | None = ...) -> list[tuple[SourcePartition, SourceOffset]]: ...  # noqa: D102

    def put(self, connector: str, offsets: Any, group_metadata: GroupMetadata) -> None: ...  # noqa: D102

    def records(self, connector: str, offsets: Any) -> list[list[Entry]]: ...  # noqa: D102

    def copy_offsets(self, connector: str, offsets: Any, group_metadata: GroupMetadata) -> None: ...  # noqa: D102


class TopicStore(Protocol):
    """Stores active topics (KIP-558); `put_topic` does not wait until `topics` includes the topic, and does not raise."""

    def topics(self, connector: str) -> set[str]: ...  # noqa: D102

    def put_topic(self, connector: str, topic: str, task: int, discovered_ms: int) -> None: ...  # noqa: D102
