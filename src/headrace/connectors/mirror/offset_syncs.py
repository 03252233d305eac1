"""Which offset in the target follows which one in the source: the offset syncs of a task.

The acknowledgement of a record says where its copy is: pairs are made of those alone. How far both logs have grown says nothing:
a record of another producer in the copy can make up for one that was left out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass

import structlog

from headrace.connectors.mirror.formats import OffsetSync
from headrace.errors import HeadraceError
from headrace.kafka.groups import Partition
from headrace.kafka.writer import RecordWriter

log = structlog.get_logger(__name__)

_PAUSE_S = 1.0
_CLOSE_S = 5.0
_LOG_S = 60.0


@dataclass(frozen=True)
class Ends:
    """What comes at `upstream` or later in the source is not yet in the copy, and will be at `downstream` or later there."""

    upstream: int
    """The next offset of the source."""
    downstream: int
    """The next offset of the copy."""


def pair(partition: Partition, ends: Ends, *, alone: bool) -> OffsetSync:
    """The offset sync for a partition whose copy ends there.

    alone: nothing but this mirror's records is in the copy, so that its last record is the source's last one, and the sync refers
    to it. If there may be others, or the markers of transactions, it is put such that a record may be read twice, and none is
    skipped. Of a copy without records it refers to what would be before the first.
    """
    return OffsetSync(*partition, ends.upstream - 1 if alone else ends.upstream, ends.downstream - 1)


def within(partition: Partition, before: Ends, after: Ends, unbroken: int) -> list[OffsetSync]:
    """The syncs of records that were copied since `before`, the closer to each other the later they are.

    unbroken: from this record on, up to the last one, copies follow each other as the records do; none before is known.
    """
    count = after.upstream - max(before.upstream, unbroken)
    back = [1 << n for n in range(max(count, 0).bit_length()) if (1 << n) < count]
    shift = after.downstream - after.upstream
    return [OffsetSync(*partition, at := after.upstream - 1 - distance, at + shift) for distance in reversed(back)]


class SyncThrottle:
    """Which pairs are written at once: the first of a partition, those far from its last one; the others within a second."""

    def __init__(self, lag_max: int) -> None:
        """lag_max: `offset.lag.max`, in records."""
        self._lag_max = lag_max
        self._written: dict[Partition, tuple[OffsetSync, float]] = {}
        self._waiting: dict[Partition, OffsetSync] = {}

    def take(self, sync: OffsetSync, now_s: float, inner: Sequence[OffsetSync] = ()) -> list[OffsetSync]:
        """A newer pair, and those of records before it; returns what is to be written now."""
        partition = (sync.topic, sync.partition)
        last = self._written.get(partition)
        if last is not None and last[0] == sync:
            return []
        far = last is None or not 0 <= sync.downstream - last[0].downstream - 1 < self._lag_max
        if far or now_s - last[1] >= _PAUSE_S:  # pyright: ignore[reportOptionalSubscript]
            return [*(inner if far else ()), *self._write(partition, sync, now_s)]
        self._waiting[partition] = sync
        return []

    def due(self, now_s: float) -> list[OffsetSync]:
        """What has waited long enough."""
        due = [p for p in self._waiting if now_s - self._written[p][1] >= _PAUSE_S]
        return [sync for p in due for sync in self._write(p, self._waiting[p], now_s)]

    def failed(self, sync: OffsetSync) -> None:
        """A pair could not be written: if there is no newer one, it is due again after a second."""
        partition = (sync.topic, sync.partition)
        if self._written[partition][0] == sync:
            self._waiting.setdefault(partition, sync)

    def _write(self, partition: Partition, sync: OffsetSync, now_s: float) -> list[OffsetSync]:
        self._waiting.pop(partition, None)
        self._written[partition] = (sync, now_s)
        return [sync]


class SyncWriter:
    """Writes offset syncs; a failure is logged, at most once a minute, and that pair or a later one is written instead."""

    def __init__(self, topic: str, producer: Mapping[str, str], lag_max: int) -> None:
        """producer: Java settings of a producer on the cluster that has the topic. Raises ConfigError."""
        self._writer, self._pace = RecordWriter(topic, {**producer, "compression.type": "none"}), SyncThrottle(lag_max)
        self._topic, self._stopping = topic, threading.Event()
        self._lock = threading.RLock()  # a send may report the failures of earlier ones
        self._logged_at = -_LOG_S
        self._thread = threading.Thread(target=copy_context().run, args=(self._main,), name=f"syncs-{topic}", daemon=True)
        self._thread.start()

    def take(self, sync: OffsetSync, inner: Sequence[OffsetSync] = ()) -> None:
        """A newer pair, and those of records before it; returns at once."""
        with self._lock:
            for sync_due in self._pace.take(sync, time.monotonic(), inner):
                self._send(sync_due)

    def close(self) -> None:
        """Write what waits, and end."""
        self._stopping.set()
        self._thread.join(_CLOSE_S)
        self._writer.stop(_CLOSE_S)

    def _main(self) -> None:
        while not self._stopping.wait(_PAUSE_S):
            self._flush(time.monotonic())
        self._flush(float("inf"))

    def _flush(self, now_s: float) -> None:
        with self._lock:
            for sync in self._pace.due(now_s):
                self._send(sync)

    def _send(self, sync: OffsetSync) -> None:
        try:
            future = self._writer.send(sync.key(), sync.value())
        except HeadraceError as error:
            self._failed(sync, error)
        else:
            future.add_done_callback(lambda done: self._failed(sync, error) if (error := done.exception()) else None)

    def _failed(self, sync: OffsetSync, error: BaseException) -> None:
        with self._lock:
            self._pace.failed(sync)
            if time.monotonic() - self._logged_at >= _LOG_S:
                self._logged_at = time.monotonic()
                hint = "offsets of groups are not translated beyond the syncs that are written"
                log.error("mirror.sync.failed", topic=self._topic, cause=str(error), hint=hint)
