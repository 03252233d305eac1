"""The offset topic as a store of source offsets, by connector and source partition."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from headrace.cluster import offset_records
from headrace.cluster.offset_records import identity
from headrace.connectors.base import SourceOffset, SourcePartition
from headrace.kafka.confirmed_transactions import write_confirmed
from headrace.kafka.failures import KafkaFailure, kafka_failure
from headrace.kafka.group_transactions import GroupMetadata, GroupTransactions, Write
from headrace.kafka.log import START_TIMEOUT_S, LogFactory, LogRecord

TIMEOUT_S = 30.0

Offsets = Sequence[tuple[SourcePartition, SourceOffset | None]]


@dataclass(frozen=True)
class _Stored:
    """The offset under one key. A partition may have several keys, written with its fields in different orders."""

    partition: SourcePartition | None
    offset: SourceOffset
    timestamp_ms: int


class KafkaOffsetStore:
    """Every read first reads the topic to its end, so that it includes offsets of all workers. Writes wait for acknowledgements.

    Every method may be called from any thread.
    """

    def __init__(self, make_log: LogFactory, fenced: GroupTransactions | None = None, topic: str = "") -> None:
        """fenced: writes as a member of the worker group; without it writes are not fenced."""
        self._fenced, self.topic = fenced, topic
        self._lock = threading.Lock()
        # connector -> identity of the partition -> key -> offset; changed in place: there may be very many partitions
        self._stored: dict[str, dict[bytes, dict[bytes, _Stored]]] = {}
        self._first_used: dict[tuple[str, bytes], bytes] = {}
        self._log = make_log(self._apply)

    def start(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Read the topic to its end. Raises ConnectError."""
        self._log.start(timeout_s)

    def stop(self) -> None:
        """Wait a few seconds for records in flight, then close."""
        self._log.stop()

    def get(
        self, connector: str, partitions: Sequence[SourcePartition], timeout_s: float = TIMEOUT_S
    ) -> list[tuple[SourcePartition, SourceOffset | None]]:
        """The stored offsets of these partitions, None if there is none. Raises RetriableError after `timeout_s`."""
        self._log.read_to_end(timeout_s)
        with self._lock:
            by_partition = self._stored.get(connector, {})
            return [(partition, _latest(by_partition.get(identity(partition), {}))) for partition in partitions]

    def all(self, connector: str, answer_s: float | None = None) -> list[tuple[SourcePartition, SourceOffset]]:
        """Every stored offset of the connector. Raises RetriableError after 30 s, or if no broker answers within `answer_s`."""
        self._log.read_to_end(TIMEOUT_S, answer_s)
        with self._lock:
            newest = [max(keys.values(), key=_age) for keys in self._stored.get(connector, {}).values()]
        return [(stored.partition, stored.offset) for stored in newest]  # type: ignore[misc]  # a partition may be null

    def partitions(self, connector: str) -> list[SourcePartition | None]:
        """The source partitions with a stored offset, from memory, without a request to brokers."""
        with self._lock:
            return [max(keys.values(), key=_age).partition for keys in self._stored.get(connector, {}).values()]

    def put(
        self, connector: str, offsets: Offsets, group_metadata: GroupMetadata = lambda: None, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Store offsets, None removes one. When this returns they are durable, and every reader can see them.

        group_metadata: of this worker's membership, if there is a group. Raises DataError for offsets that cannot be stored,
        KafkaFailure if the worker is not a member any more, or without all acknowledgements within `timeout_s`: then offsets may
        be stored nevertheless.
        """
        records = [record for some in self.records(connector, offsets) for record in some]
        try:
            if self._fenced is None:
                self._log.append([(key, value) for _, key, value in records], timeout_s)
            else:
                self._write_fenced(self._fenced, Write(records), group_metadata, timeout_s)
        except KafkaFailure as error:
            sentence = f"Failed to store the source offsets of connector {connector}: {error}"
            raise kafka_failure(error.code, error.reason, sentence) from error

    def records(self, connector: str, offsets: Offsets) -> list[list[tuple[str, bytes, bytes | None]]]:
        """The records (topic, key, value) that store each of these offsets.

        Raises DataError for offsets that cannot be stored.
        """
        for partition, offset in offsets:
            offset_records.check(partition)
            offset_records.check(offset)
        return [[(self.topic, *entry) for entry in self._entries(connector, p, o)] for p, o in offsets]

    def copy_offsets(self, connector: str, offsets: Offsets, group_metadata: GroupMetadata = lambda: None) -> None:
        """Do nothing: offsets stored in transactions need no copy in another topic."""

    def _write_fenced(self, fenced: GroupTransactions, write: Write, group_metadata: GroupMetadata, timeout_s: float) -> None:
        def write_once(left: float) -> dict[int, int]:
            return {partition: end for (_, partition), end in fenced.write(write, group_metadata, left).items()}

        write_confirmed(write_once, self._log, timeout_s)

    def _entries(
        self, connector: str, partition: SourcePartition, offset: SourceOffset | None
    ) -> list[tuple[bytes, bytes | None]]:
        """The records to write: the offset under the key in use, and tombstones for other keys of the same partition."""
        same = identity(partition)
        with self._lock:
            keys = dict(self._stored.get(connector, {}).get(same, {}))
            # The last write may not have been read back yet.
            first_used = self._first_used.setdefault((connector, same), offset_records.encode_key(connector, partition))
        key = max(keys, key=lambda k: _age(keys[k])) if keys else first_used
        tombstones = [(old_key, None) for old_key in keys if old_key != key]
        return [(key, offset_records.encode_value(offset)), *tombstones]

    def _apply(self, record: LogRecord) -> None:
        names = offset_records.decode_key(record.key)
        if names is None or record.key is None:
            return
        connector, partition = names
        offset = None if record.value is None else offset_records.decode_value(record.value)
        if offset is None and record.value is not None:
            return
        with self._lock:
            partitions = self._stored.setdefault(connector, {})
            keys = partitions.setdefault(identity(partition), {})
            if offset is None:
                keys.pop(record.key, None)
            else:
                keys[record.key] = _Stored(partition, offset, record.timestamp_ms)
            if not keys:
                del partitions[identity(partition)]
            if not partitions:
                del self._stored[connector]


def _latest(keys: dict[bytes, _Stored]) -> SourceOffset | None:
    return max(keys.values(), key=_age).offset if keys else None


def _age(stored: _Stored) -> int:
    return stored.timestamp_ms
