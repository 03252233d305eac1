"""The metadata of committed offsets (Kafka's `OffsetAndMetadata`). By partition, JSON with these fields:

`n`, the number of the batch that is committed, or of the one that begins; then `to`, the offset after it; `c`, stream times by
operator; `s`, signatures of stores; `e`, stores whose changelogs are being filled again; `w`, stores whose changelogs have rows
in this partition, and repartition topics (`StateManager.stores_written`);
`x`, members of the group that have to shut down, each as 8 hexadecimal digits, and why.

A broker takes no more than `offset.metadata.max.bytes`. Names stand in several fields, so a long text is compressed: zlib, then
base 85. What is compressed has a mark in front, which no JSON has.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import structlog

from headrace.errors import StreamsError
from headrace.kafka.groups import Partition
from headrace.streams.engine.changelog import REMEDY
from headrace.streams.engine.context import Context, StateManager, StreamTimes

log = structlog.get_logger(__name__)
OffsetMetadata = Mapping[Partition, Mapping[str, Any]]
"""The decoded JSON, by partition."""
_MAX_LENGTH = 4096  # the broker's default of `offset.metadata.max.bytes`
_PLAIN_LENGTH = 1024  # up to which the text is plain JSON, for those who read it
_COMPRESSED = "z:"
_REASON_LENGTH = 200  # characters of an error


def encode(
    number: int, partition: Partition, stream_times: StreamTimes, written: Iterable[tuple[str, int]], more: Mapping[str, Any]
) -> str:
    """The metadata of a partition. more: fields that not every partition has, None where there is nothing."""
    clock = {node: times[partition[1]] for node, times in stream_times.items() if partition[1] in times}
    stores = sorted(store for store, p in written if p == partition[1])
    parts = {**more, "c": clock or None, "w": stores or None}
    return _text({"n": number, **{key: part for key, part in parts.items() if part is not None}})


def with_shutdown(text: str, members: Iterable[str], reason: str) -> str:
    """The metadata of a partition with the request that members of the group shut down; the next batch removes it."""
    fields = json.loads(_plain(text)) if text else {"n": 0}
    return _text({**fields, "x": [[_short(member) for member in members], reason[:_REASON_LENGTH]]})


def shutdown_reason(text: str, member: str) -> str | None:
    """Why a member of the group has to shut down; None if nobody has requested it."""
    members, reason = json.loads(_plain(text)).get("x", ([], None)) if text else ([], None)
    return reason if _short(member) in members else None


def _short(member: str) -> str:
    return f"{zlib.crc32(member.encode()):08x}"


def _text(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields)
    if len(text) <= _PLAIN_LENGTH:
        return text
    return _COMPRESSED + base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def require_fits(subtopology: int, context: Context) -> None:
    """Raise StreamsError if the metadata of a sub-topology can become longer than a broker takes. context: its plan."""
    state, nodes = context.state, sorted(_nodes_with_time(context))
    # Times that have nothing in common, of all operators; all stores have rows and are filled again.
    stream_times = {node: {0: 10**12 + zlib.crc32(node.encode()) * 1000} for node in nodes}
    written = {(name, 0) for name in (*state.logs, *state.repartition_sources)}
    more = {"to": 2**63 - 1, "s": state.signatures(), "e": sorted(state.logs)}
    if (length := len(encode(2**63 - 1, ("", 0), stream_times, written, more))) > _MAX_LENGTH:
        raise StreamsError(
            f"Sub-topology {subtopology} has too many stores ({len(state.logs)}): their names and times are committed with its "
            f"offsets, and would take up to {length} characters, where a broker takes {_MAX_LENGTH} (offset.metadata.max.bytes). "
            "Divide it into several applications, or with repartition() into several sub-topologies."
        )


def _nodes_with_time(context: Context) -> set[str]:
    return {output.name for output in context.outputs if output.kind == "tick"}


def batch_number(metadata: OffsetMetadata) -> int:
    """The number of the last batch; 0 if there is none."""
    return max((int(fields["n"]) for fields in metadata.values()), default=0)


def decoded(committed: Mapping[Partition, tuple[int, str]]) -> OffsetMetadata:
    """The metadata of committed offsets."""
    return {partition: json.loads(_plain(text)) for partition, (_, text) in committed.items() if text}


def _plain(text: str) -> str | bytes:
    if text.startswith(_COMPRESSED):
        return zlib.decompress(base64.b85decode(text.removeprefix(_COMPRESSED)))
    return text


def signatures(metadata: OffsetMetadata) -> dict[str, str]:
    """What the stores held when offsets were committed, by name."""
    return {name: signature for fields in metadata.values() for name, signature in fields.get("s", {}).items()}


def require_known_rows(
    metadata: OffsetMetadata, partitions: Sequence[Partition], stores: Iterable[str], has_rows: Callable[[str], bool]
) -> None:
    """Raise StreamsError if a batch was interrupted, and the topology has changed since, so that rows of other sub-topologies
    may have the number by which the rows of that batch are known.

    partitions: those of the sub-topology, in their order; stores: those with a changelog; has_rows: whether a changelog has rows.
    """
    if not any("to" in fields for fields in metadata.values()):
        return
    numbered = [p for p in partitions if metadata.get(p, {}).get("n")]  # a request to shut down has 0 where nothing was committed
    with_stores = [p for p in numbered if metadata[p].get("s")]
    # A sub-topology commits all of its partitions with one number, and its stores with the first one.
    is_merged = len({metadata[p]["n"] for p in numbered}) > 1 or (bool(with_stores) and with_stores != numbered[:1])
    before = signatures(metadata)
    is_complete = bool(before) or len(numbered) == len(partitions)  # else what named the stores may have gone with a topic
    if is_merged or (is_complete and any(store not in before and has_rows(store) for store in stores)):
        raise StreamsError(
            "The topology has changed while a batch was interrupted: in changelogs, its rows cannot be distinguished from "
            "those of other sub-topologies. Start the previous version of the application once more, and end it with close(), "
            "so that it completes the batch. Where that is not possible, reset the application "
            "(kafka-streams-application-reset.sh)."
        )


def require_same_stores(metadata: OffsetMetadata, now: Mapping[str, str]) -> None:
    """Compare what the stores hold now, by name, with what they held when offsets were committed. Raises StreamsError."""
    before = signatures(metadata)
    if changed := sorted(name for name in now.keys() & before.keys() if now[name] != before[name]):
        raise StreamsError(
            f"The topology has changed: {', '.join(changed)} held other keys, values or windows when the application ran "
            f"before. {REMEDY}"
        )
    for name in sorted(now.keys() - before.keys()) if before else ():
        log.warning(
            "The topology has changed: the store %s is new in this sub-topology. Unless it was in another one, it knows nothing "
            "of records that were read before.", name,
        )  # fmt: skip
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


def stores_with_rows(metadata: OffsetMetadata, state: StateManager) -> set[tuple[str, int]]:
    """The stores and partitions whose changelogs have rows, as `StateManager.stores_written` returns them.

    Stores of earlier topologies are left out: they would be committed for ever, and `require_fits` does not know them.
    """
    present = {*state.logs, *state.repartition_sources}
    return {(store, p) for (_, p), fields in metadata.items() for store in fields.get("w", ()) if store in present}


def stream_times_after(before: StreamTimes, latest: Iterable[tuple[str, int, int]]) -> StreamTimes:
    """Stream times after a batch. latest: node, partition, and the latest timestamp of the batch (ms)."""
    by_node = {node: dict(times) for node, times in before.items()}
    for node, partition, at in latest:
        node_times = by_node.setdefault(node, {})
        node_times[partition] = max(at, node_times.get(partition, -1))
    return by_node


def stream_times(metadata: OffsetMetadata, context: Context) -> StreamTimes:
    """The stream times, by operator and partition, of operators in a plan: those of earlier topologies are left out, too."""
    present, by_node = _nodes_with_time(context), StreamTimes()
    for (_, partition), fields in metadata.items():
        times = fields.get("c")
        for node, at in (times if isinstance(times, dict) else {}).items():
            if node not in present:
                continue
            node_times = by_node.setdefault(node, {})
            node_times[partition] = max(int(at), node_times.get(partition, -1))
    return by_node
