"""Replays: dead letters are written to their destination, each exactly once.

A transaction writes the records together with the marks of their replay. There is one transactional id per dead letter topic: a
replay first fences every other one, then reads all marks, and then chooses the letters that have not been replayed. So a letter
is replayed once even if two workers replay at the same time, or a worker that seemed dead continues. The marks are in a compacted
topic, `<dead letter topic>-replayed`, by the topic id of the dead letter topic: a topic that was deleted and created again has no
marks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import KafkaException, Producer

from headrace.connectors.base import Props
from headrace.dead_letters.letter import LetterId, Replay
from headrace.errors import ConnectError, HeadraceError, RestError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure, failure
from headrace.preview.live import read_ranges
from headrace.preview.records import RawRecord
from headrace.values.times import iso

_SUFFIX = "-replayed"
_TIMEOUT_S = 30.0

Marks = dict[LetterId, Replay]
Outgoing = Mapping[LetterId, RawRecord]


@dataclass(frozen=True)
class Replays:
    """The replays of one dead letter topic."""

    topic: str
    """The dead letter topic."""
    producer: Props
    """Java settings, as are those of the consumer."""
    consumer: Props
    """Java settings, as of `producer`."""
    admin: Admin

    @property
    def marks_topic(self) -> str:
        """The compacted topic that says which dead letters were replayed."""
        return self.topic + _SUFFIX

    def marks(self) -> Marks:
        """The letters that have been replayed. Raises ConnectError."""
        info = self.admin.describe(self.marks_topic, _TIMEOUT_S)
        if info is None:
            return {}
        partitions = [(self.marks_topic, number) for number in info.partitions]
        first = self.admin.partition_offsets(partitions, "earliest", _TIMEOUT_S)
        end = self.admin.partition_offsets(partitions, "latest", _TIMEOUT_S)
        ranges = {partition: (first[partition], end[partition]) for partition in partitions if end[partition] > first[partition]}
        consumer = {**self.consumer, "isolation.level": "read_committed"}
        records = read_ranges(consumer, ranges, time.monotonic() + _TIMEOUT_S, lambda record: record) if ranges else []
        topic_id, marks = self._topic_id(), Marks()
        for record in records:
            if mark := _mark(record, topic_id):
                marks[mark[0]] = mark[1]
        return marks

    def write(self, choose: Callable[[Marks], Outgoing]) -> None:
        """Write the records that `choose` returns for the current marks, and their marks, in one transaction.

        Raises ConnectError; RestError 409 if another replay has fenced this one, then nothing was written.
        """
        self._create_marks_topic()
        settings = {"acks": "all", "enable.idempotence": "true", "transactional.id": f"headrace-replay-{self.topic}"}
        producer = clients.producer({**self.producer, **settings}, retry_backoff_ms="5", retry_backoff_max_ms="200")
        try:
            producer.init_transactions(_TIMEOUT_S)
            outgoing = choose(self.marks())
            if outgoing:
                self._transaction(producer, outgoing)
        except KafkaException as error:
            raise self._replay_error(failure(error)) from None
        finally:
            clients.purge(producer)

    def _transaction(self, producer: Producer, outgoing: Outgoing) -> None:
        topic_id, counts = self._topic_id(), self._partition_counts({record.topic for record in outgoing.values()})
        now = iso(datetime.now(UTC))
        producer.begin_transaction()
        try:
            for letter_id, record in outgoing.items():
                _produce(producer, record, counts[record.topic])
                value = json.dumps({"time": now, "topic": record.topic}).encode()
                producer.produce(self.marks_topic, value, f"{topic_id}:{letter_id}".encode(), partition=0)
            producer.commit_transaction(_TIMEOUT_S)
        except (KafkaException, BufferError) as error:
            with suppress(KafkaException):  # the producer may have been fenced
                producer.abort_transaction(_TIMEOUT_S)  # an open one would block consumers of committed records
            if isinstance(error, BufferError):
                raise ConnectError("The producer has no room for so many records; replay fewer at a time.") from None
            raise

    def _partition_counts(self, topics: set[str]) -> dict[str, int]:
        topic_infos = self.admin.find(topics, _TIMEOUT_S)
        if missing := topics - topic_infos.keys():
            raise ConnectError(f"Topic '{min(missing)}', which records are to be replayed to, does not exist.")
        return {name: len(info.partitions) for name, info in topic_infos.items()}

    def _topic_id(self) -> str:
        return self.admin.topic_ids([self.topic], _TIMEOUT_S).get(self.topic, "")

    def _create_marks_topic(self) -> None:
        topics = self.admin.find([self.topic, self.marks_topic], _TIMEOUT_S)
        if self.marks_topic in topics:
            return
        factor = topics[self.topic].replication_factor if self.topic in topics else -1  # the same as that of the letters
        try:
            self.admin.create(self.marks_topic, 1, factor, {"cleanup.policy": "compact"}, _TIMEOUT_S, exist_ok=True)
        except KafkaFailure as error:
            raise ConnectError(
                f"Topic '{self.marks_topic}', which keeps what has been replayed, cannot be created: {error.reason}"
            ) from error

    def _replay_error(self, error: KafkaFailure) -> HeadraceError:
        if error.code in ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "CONCURRENT_TRANSACTIONS"):
            return RestError(409, f"Another replay of '{self.topic}' has begun meanwhile; nothing was written.")
        if error.code == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED":
            return ConnectError(
                f"A replay needs the rights Write and Describe on the transactional id 'headrace-replay-{self.topic}'."
            )
        return error


def _produce(producer: Producer, record: RawRecord, partitions: int) -> None:
    """Send a record to its partition if the topic has it, else to the partition of its key."""
    placement: dict[str, Any] = {}
    if record.partition is not None and record.partition < partitions:
        placement["partition"] = record.partition
    if record.timestamp is not None and record.timestamp >= 0:
        placement["timestamp"] = record.timestamp
    producer.produce(record.topic, record.value, record.key, headers=list(record.headers), **placement)


def _mark(record: RawRecord, topic_id: str) -> tuple[LetterId, Replay] | None:
    owner, _, letter_id = (record.key or b"").decode("utf-8", "replace").partition(":")
    if owner != topic_id or record.value is None:
        return None
    mark = json.loads(record.value)
    return LetterId.parse(letter_id), Replay(mark["time"], mark["topic"])
