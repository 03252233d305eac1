"""What stands in the texts of committed offsets, and what it says about the stores. By partition, the JSON of a text:

`n`, the number of the batch that is done, or of the one that begins; then `to`, the offset after that; `c`, stream times by
operator; `s`, by store what it holds; `e`, stores whose changelogs are being filled again; `w`, those whose changelogs have got
rows in this partition, and repartition topics (`Memory.kept_in`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from headrace.errors import StreamsError
from headrace.streams.engine.changelog import REMEDY
from headrace.streams.engine.context import Clocks, Memory
from headrace.streams.engine.source import Partition

log = structlog.get_logger(__name__)
Notes = Mapping[Partition, Mapping[str, Any]]


def note(number: int, partition: Partition, clocks: Clocks, written: Iterable[tuple[str, int]], more: Mapping[str, Any]) -> str:
    """The text of a partition. more: what is not said of every one, None where there is nothing."""
    clock = {node: times[partition[1]] for node, times in clocks.items() if partition[1] in times}
    stores = sorted(store for store, p in written if p == partition[1])
    parts = {**more, "c": clock or None, "w": stores or None}
    return json.dumps({"n": number, **{key: part for key, part in parts.items() if part is not None}})


def require_same_stores(notes: Notes, now: Mapping[str, str]) -> None:
    """Compare what the stores hold now, by name, with what they held when offsets were committed. Raises StreamsError."""
    before: dict[str, str] = {}
    for note in notes.values():
        before |= note.get("s", {})
    if changed := sorted(name for name in now.keys() & before.keys() if now[name] != before[name]):
        raise StreamsError(
            f"The topology has changed: {', '.join(changed)} held other keys, values or windows when the application ran "
            f"before. {REMEDY}"
        )
    for name in sorted(now.keys() - before.keys()) if before else ():
        log.warning("The topology has changed: the store %s is new, and knows nothing of records that were read before.", name)
    for name in sorted(before.keys() - now.keys()):
        log.warning("The topology has changed: the store %s is not used any more; its changelog stays as it is.", name)


def require_filled(notes: Notes, memory: Memory) -> None:
    """Raise StreamsError if a changelog was being filled again when the instance before ended."""
    if stores := sorted({store for note in notes.values() for store in note.get("e", ())}):
        topics = ", ".join(str(memory.changelog(store)) for store in stores if store in memory.logs)
        raise StreamsError(
            f"Changelogs were deleted while the application ran, and it ended before they were filled again: {topics}. A "
            "part of their state is lost. Reset the application (kafka-streams-application-reset.sh) to compute it again."
        )


def written_of(notes: Notes) -> set[tuple[str, int]]:
    """What has got rows, as `Memory.kept_in` has it."""
    return {(store, p) for (_, p), note in notes.items() for store in note.get("w", ())}


def clocks_after(before: Clocks, ticks: Iterable[tuple[str, int, int]]) -> Clocks:
    """Stream times after a batch. ticks: node, partition, and the latest timestamp of the batch (ms)."""
    clocks = {node: dict(times) for node, times in before.items()}
    for node, partition, at in ticks:
        node_clocks = clocks.setdefault(node, {})
        node_clocks[partition] = max(at, node_clocks.get(partition, -1))
    return clocks


def clocks_of(notes: Notes) -> Clocks:
    """The stream times, by operator and partition."""
    clocks: Clocks = {}
    for (_, partition), note in notes.items():
        times = note.get("c")
        for node, at in (times if isinstance(times, dict) else {}).items():
            node_clocks = clocks.setdefault(node, {})
            node_clocks[partition] = max(int(at), node_clocks.get(partition, -1))
    return clocks
