"""The metadata of committed offsets (Kafka's `OffsetAndMetadata`). By partition, JSON with these fields:

`n`, the number of the batch that is committed, or of the one that begins; then `to`, the offset after it; `c`, stream times by
operator; `s`, signatures of stores; `e`, stores whose changelogs are being filled again; `w`, stores whose changelogs have rows
in this partition, and repartition topics (`StateManager.stores_written`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from headrace.errors import StreamsError
from headrace.streams.engine.changelog import REMEDY
from headrace.streams.engine.context import StateManager, StreamTimes
from headrace.streams.engine.source import Partition

log = structlog.get_logger(__name__)
OffsetMetadata = Mapping[Partition, Mapping[str, Any]]
"""The decoded JSON, by partition."""


def encode(
    number: int, partition: Partition, stream_times: StreamTimes, written: Iterable[tuple[str, int]], more: Mapping[str, Any]
) -> str:
    """The metadata of a partition. more: fields that not every partition has, None where there is nothing."""
    clock = {node: times[partition[1]] for node, times in stream_times.items() if partition[1] in times}
    stores = sorted(store for store, p in written if p == partition[1])
    parts = {**more, "c": clock or None, "w": stores or None}
    return json.dumps({"n": number, **{key: part for key, part in parts.items() if part is not None}})


def batch_number(metadata: OffsetMetadata) -> int:
    """The number of the last batch; 0 if there is none."""
    return max((int(fields["n"]) for fields in metadata.values()), default=0)


def decoded(committed: Mapping[Partition, tuple[int, str]]) -> OffsetMetadata:
    """The metadata of committed offsets."""
    return {partition: json.loads(text) for partition, (_, text) in committed.items() if text}


def require_same_stores(metadata: OffsetMetadata, now: Mapping[str, str]) -> None:
    """Compare what the stores hold now, by name, with what they held when offsets were committed. Raises StreamsError."""
    before: dict[str, str] = {}
    for fields in metadata.values():
        before |= fields.get("s", {})
    if changed := sorted(name for name in now.keys() & before.keys() if now[name] != before[name]):
        raise StreamsError(
            f"The topology has changed: {', '.join(changed)} held other keys, values or windows when the application ran "
            f"before. {REMEDY}"
        )
    for name in sorted(now.keys() - before.keys()) if before else ():
        log.warning("The topology has changed: the store %s is new, and knows nothing of records that were read before.", name)
    for name in sorted(before.keys() - now.keys()):
        log.warning("The topology has changed: the store %s is not used any more; its changelog stays as it is.", name)


def require_filled(metadata: OffsetMetadata, state: StateManager) -> None:
    """Raise StreamsError if a changelog was being filled again when the previous instance ended."""
    if stores := sorted({store for fields in metadata.values() for store in fields.get("e", ())}):
        topics = ", ".join(str(state.changelog(store)) for store in stores if store in state.logs)
        raise StreamsError(
            f"Changelogs were deleted while the application ran, and it ended before they were filled again: {topics}. A "
            "part of their state is lost. Reset the application (kafka-streams-application-reset.sh) to compute it again."
        )


def stores_with_rows(metadata: OffsetMetadata) -> set[tuple[str, int]]:
    """The stores and partitions whose changelogs have rows, as `StateManager.stores_written` returns them."""
    return {(store, p) for (_, p), fields in metadata.items() for store in fields.get("w", ())}


def stream_times_after(before: StreamTimes, latest: Iterable[tuple[str, int, int]]) -> StreamTimes:
    """Stream times after a batch. latest: node, partition, and the latest timestamp of the batch (ms)."""
    by_node = {node: dict(times) for node, times in before.items()}
    for node, partition, at in latest:
        node_times = by_node.setdefault(node, {})
        node_times[partition] = max(at, node_times.get(partition, -1))
    return by_node


def stream_times(metadata: OffsetMetadata) -> StreamTimes:
    """The stream times, by operator and partition."""
    by_node: StreamTimes = {}
    for (_, partition), fields in metadata.items():
        times = fields.get("c")
        for node, at in (times if isinstance(times, dict) else {}).items():
            node_times = by_node.setdefault(node, {})
            node_times[partition] = max(int(at), node_times.get(partition, -1))
    return by_node
