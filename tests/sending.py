"""Records sent one after the other, for as long as a test needs them, whatever the broker does."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from confluent_kafka import Producer

_PAUSE_S, _FLUSH_S = 0.002, 180


class Sender:
    """A context manager: sends to the partitions of a topic in turn, the number of each record in its partition as its value."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        patient = {"enable.idempotence": True, "message.timeout.ms": 0, "log_level": 0}
        self._producer = Producer({"bootstrap.servers": bootstrap, **patient})
        self._topic, self.counts = topic, [0] * partitions
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._main, daemon=True)

    def values(self, partition: int) -> list[bytes]:
        """What was sent to a partition."""
        return [b"%d" % number for number in range(self.counts[partition])]

    def ends(self) -> dict[str, int]:
        """The offsets of a Kafka source that has copied all: `{"topic:partition": offset}`."""
        return {f"{self._topic}:{partition}": count - 1 for partition, count in enumerate(self.counts)}

    def stop(self) -> None:
        """End; everything is acknowledged when this returns."""
        self._enough.set()
        self._thread.join()
        assert self._producer.flush(_FLUSH_S) == 0

    def _main(self) -> None:
        while not self._enough.wait(_PAUSE_S):
            partition = sum(self.counts) % len(self.counts)
            self._producer.produce(self._topic, b"%d" % self.counts[partition], partition=partition)
            self.counts[partition] += 1
            self._producer.poll(0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._enough.set()
        self._thread.join()
