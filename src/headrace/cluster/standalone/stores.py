"""The stores of standalone mode: configurations and states in memory, source offsets in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path

import structlog

from headrace.cluster import java_map
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.status_store import StatusStore
from headrace.cluster.stores import WorkerStores
from headrace.errors import ConnectError
from headrace.kafka.log import START_TIMEOUT_S, Entry, LogRecord, OnRecord, WrittenAt
from headrace.values.times import now_ms

log = structlog.get_logger(__name__)


def memory_stores(offset_file: str) -> WorkerStores:
    """The stores of a standalone worker, without Kafka. offset_file: the path of the file that keeps the offsets."""
    offsets = KafkaOffsetStore(lambda on_record: FileLog(Path(offset_file), on_record))
    return WorkerStores(ConfigStore(MemoryLog), StatusStore(MemoryLog), offsets)


class MemoryLog:
    """A log of one partition without storage: a record is handled when it is sent, on the sender's thread, one at a time."""

    partition_count = 1

    def __init__(self, on_record: OnRecord) -> None:
        self._on_record = on_record
        self._lock = threading.RLock()
        self._end = 0

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Do nothing: there is nothing to read."""

    def send(self, key: bytes, value: bytes | None) -> Future[WrittenAt]:
        """Handle a record; returns a completed Future."""
        future: Future[WrittenAt] = Future()
        try:
            self.append([(key, value)], 0)
            future.set_result(WrittenAt(0, self._end - 1))
        except ConnectError as error:
            future.set_exception(error)
        return future

    def append(self, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        """Handle records."""
        with self._lock:
            for key, value in entries:
                self._handle(key, value)
            return {0: self._end}

    def write(self, entries: Iterable[Entry], timeout_s: float) -> None:
        """Handle records."""
        self.append(entries, timeout_s)

    def read_back(self, ends: Mapping[int, int], timeout_s: float) -> bool:
        """Return at once: records are handled when they are sent."""
        return True

    def read_to_end(self, timeout_s: float, answer_s: float | None = None) -> None:
        """Return at once: records are handled when they are sent."""

    def flush(self, timeout_s: float) -> bool:
        """Return at once: records are handled when they are sent."""
        return True

    def stop(self, timeout_s: float = 5.0) -> None:
        """Do nothing: there are no resources."""

    def _handle(self, key: bytes, value: bytes | None) -> None:
        record = LogRecord(0, self._end, key, value, now_ms())
        self._end += 1
        try:
            self._on_record(record)
        except Exception:
            log.exception("record.skipped", offset=record.offset)


class FileLog(MemoryLog):
    """A log that keeps the latest record of each key in a file, in the format of Connect's standalone mode.

    Appended records are on disk when append() returns; the file is replaced atomically.
    """

    def __init__(self, path: Path, on_record: OnRecord) -> None:
        super().__init__(on_record)
        self._path = path
        self._entries: dict[bytes, bytes | None] = {}

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the file, which may be missing or empty. Raises ConnectError if it is invalid."""
        log.info("Starting FileOffsetBackingStore with file %s", self._path)
        try:
            data = self._path.read_bytes()
            self._entries = java_map.read(data) if data else {}
        except FileNotFoundError:
            return
        except (OSError, ConnectError) as error:
            raise ConnectError(f"{self._place} cannot be read: {error}") from error
        super().append(self._entries.items(), timeout_s)

    def append(self, entries: Iterable[Entry], timeout_s: float) -> dict[int, int]:
        """Save records and handle them. Raises ConnectError if the file cannot be written."""
        batch = list(entries)
        with self._lock:
            merged = {**self._entries, **dict(batch)}
            self._save({key: value for key, value in merged.items() if value is not None})
            self._entries = merged
            return super().append(batch, timeout_s)

    @property
    def _place(self) -> str:
        return f"The offset file '{self._path}' (offset.storage.file.filename)"

    def _save(self, entries: dict[bytes, bytes | None]) -> None:
        scratch = self._path.with_name(self._path.name + ".new")
        try:
            with scratch.open("wb") as file:
                file.write(java_map.write(entries))
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(self._path)
        except OSError as error:
            raise ConnectError(f"{self._place} cannot be written: {error}") from error
