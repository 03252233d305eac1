"""Numbered records sent without a pause, and what has become of them: the log of the source is the truth."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from benchmarks.load import PARTITIONS
from benchmarks.process import BenchmarkError

_TICK_S = 0.05
_READ_S = 120


class Sender(threading.Thread):
    """Sends `rate` records a second, in turn to topics, each with its number in its partition as the value, whatever happens."""

    def __init__(self, bootstrap: str, topics: Sequence[str], rate: int) -> None:
        super().__init__(daemon=True)
        patient = {"enable.idempotence": True, "message.timeout.ms": 0, "linger.ms": 5, "log_level": 0}
        self._producer = Producer({"bootstrap.servers": bootstrap, "queue.buffering.max.messages": 1_000_000, **patient})
        self._topics, self._rate = topics, rate
        self._stopped = threading.Event()

    def run(self) -> None:
        """Send, tick by tick."""
        begun, sent = time.monotonic(), 0
        while not self._stopped.wait(_TICK_S):
            due = int((time.monotonic() - begun) * self._rate)
            for number in range(sent, due):
                number, topic = divmod(number, len(self._topics))
                self._producer.produce(self._topics[topic], b"%d" % (number // PARTITIONS), partition=number % PARTITIONS)
            sent = due
            self._producer.poll(0)

    def stop(self) -> None:
        """End; everything is acknowledged when this returns."""
        self._stopped.set()
        self.join()
        self._producer.flush(_READ_S)


@dataclass(frozen=True)
class Outcome:
    """Of copies: records of the source that are not there, those there again, and those before others that they follow."""

    lost: int = 0
    twice: int = 0
    misplaced: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        """Of both."""
        return Outcome(self.lost + other.lost, self.twice + other.twice, self.misplaced + other.misplaced)


def compare(sent: dict[int, list[bytes]], copied: dict[int, list[bytes]]) -> Outcome:
    """What has become of the records of each partition. A record counts where it comes first. Pure."""
    lost = twice = misplaced = 0
    for partition, values in sent.items():
        found = copied.get(partition, [])
        counts = Counter(found)
        lost += len(set(values) - counts.keys())
        twice += counts.total() - len(counts)
        numbers = list(map(int, dict.fromkeys(found)))
        misplaced += sum(a > b for a, b in pairwise(numbers))
    return Outcome(lost, twice, misplaced)


def read(bootstrap: str, topic: str) -> dict[int, list[bytes]]:
    """All values of a topic, by partition in their order; of transactions those that are committed.

    Raises BenchmarkError if the ends are not reached in time: what was not read must count neither as lost nor as never sent.
    """
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "soak", "enable.auto.commit": False,
                         "enable.partition.eof": True, "isolation.level": "read_committed", "log_level": 0})  # fmt: skip
    found: dict[int, list[bytes]] = {partition: [] for partition in range(PARTITIONS)}
    reading, deadline = set(found), time.monotonic() + _READ_S
    consumer.assign([TopicPartition(topic, partition, 0) for partition in found])
    try:
        while reading and time.monotonic() < deadline:
            for message in consumer.consume(10_000, 0.5):
                error, partition = message.error(), message.partition() or 0
                if error is None:
                    found[partition].append(message.value() or b"")
                elif error.code() == KafkaError._PARTITION_EOF:
                    reading.discard(partition)
                else:
                    raise KafkaException(error)
    finally:
        consumer.close()
    if reading:
        raise BenchmarkError(f"{topic}: partitions {sorted(reading)} were not read to their ends within {_READ_S} s.")
    return found
