"""What the connectors of the three workers move: a stream of numbered records for each task, sent and awaited here."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

STRING = "org.apache.kafka.connect.storage.StringConverter"
FILES, COPIES, SINKS, PARTITIONS = 6, 3, 3, 4
EVERY_S, TURNS = 0.5, 10  # a pause is known to half a second

Task = tuple[str, int]
"""Connector and number of a task; its stream is called the same."""


@dataclass(frozen=True)
class Cluster:
    """The brokers, and the folder of the files that are read."""

    bootstrap: str
    folder: Path

    def connectors(self) -> dict[str, dict[str, str]]:
        """Return the configurations: lines of files, topics copied by sources, and by sinks; one task per file or partition."""
        made: dict[str, dict[str, str]] = {}
        for number in range(FILES):
            made[f"file-{number}"] = {
                "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
                "file": str(self.folder / f"file-{number}.txt"),
                "topic": f"out.file-{number}",
                "value.converter": STRING,
            }
        for number in range(COPIES):
            made[f"copy-{number}"] = {
                "connector.class": "KafkaSourceConnector",
                "source.bootstrap.servers": self.bootstrap,
                "source.topic.whitelist": f"copy-{number}",
                "destination.topics.prefix": "out.",
                "tasks.max": str(PARTITIONS),
            }
        for number in range(SINKS):
            made[f"sink-{number}"] = {
                "connector.class": "KafkaSinkConnector",
                "target.bootstrap.servers": self.bootstrap,
                "topics": f"sink-{number}",
                "destination.topics.prefix": "out.",
                "destination.partition": "source",
                "tasks.max": str(PARTITIONS),
            }
        return made

    def tasks(self) -> list[Task]:
        """Return every task; the stream of a task of several is that of the partition of its number."""
        return [(name, n) for name in self.connectors() for n in range(1 if name.startswith("file") else PARTITIONS)]

    def create_topics(self) -> None:
        """Make what is read and what is written."""
        topics: list[NewTopic] = []
        for name in self.connectors():
            partitions = 1 if name.startswith("file") else PARTITIONS
            topics += [NewTopic(f"out.{name}", partitions, 1)]
            topics += [] if name.startswith("file") else [NewTopic(name, partitions, 1)]
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 4})
        for future in admin.create_topics(topics).values():
            future.result(30)


class Sender(threading.Thread):
    """Sends `rate` records a second to every stream, each with the number it has there, until it is stopped.

    Each stream gets its records every EVERY_S seconds, and the streams in turn: the load of thirty tasks is spread evenly.
    """

    def __init__(self, cluster: Cluster, rate: int) -> None:
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 5, "log_level": 4})
        self._tasks, self._folder, self._each = cluster.tasks(), cluster.folder, max(1, round(rate * EVERY_S))
        self._stopped = threading.Event()
        self.sent = 0  # to each stream

    def run(self) -> None:
        """Send, tick by tick."""
        files = {task: (self._folder / f"{task[0]}.txt").open("a") for task in self._tasks if task[0].startswith("file")}
        due, turn = time.monotonic(), 0
        while not self._stopped.wait(max(0.0, due - time.monotonic())) or turn % TURNS:
            due += EVERY_S / TURNS
            numbers = range(self.sent, self.sent + self._each)
            for task in self._tasks[turn % TURNS :: TURNS]:
                lines = [f"{task[0]} {task[1]} {number}" for number in numbers]
                if task in files:
                    files[task].write("\n".join(lines) + "\n")
                    files[task].flush()
                for line in () if task in files else lines:
                    self._producer.produce(task[0], line, partition=task[1])
            self._producer.poll(0)
            turn += 1
            self.sent += self._each if turn % TURNS == 0 else 0
        self._producer.flush(30)
        for file in files.values():
            file.close()

    def stop(self) -> None:
        """End; everything is acknowledged when this returns."""
        self._stopped.set()
        self.join()


@dataclass
class Arrivals:
    """What was seen: of each stream when its records came and how often each; of each task its reported states.

    Times are seconds of the wall clock; a state is (when it was written, state, worker).
    """

    times: dict[Task, list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[Task, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    states: dict[Task, list[tuple[float, str, str]]] = field(default_factory=lambda: defaultdict(list))

    def gap_s(self, task: Task, begin: float, end: float) -> float:
        """The longest time between two arrivals of a stream from `begin` to `end`."""
        marks = [begin, *(at for at in self.times[task] if begin <= at <= end), end]
        return max(b - a for a, b in itertools.pairwise(marks))

    def missing(self, sent: int) -> int:
        """How many records of all streams have not come, if `sent` were sent to each."""
        return sum(sent - len(counts) for counts in list(self.counts.values()))

    def surplus(self) -> int:
        """How many came more than once."""
        return sum(counts.total() - len(counts) for counts in self.counts.values())

    def not_running(self, since: float) -> set[Task]:
        """The tasks that reported anything but RUNNING since then, or reported RUNNING again."""
        return {task for task, states in self.states.items() if any(at >= since for at, _, _ in states)}


@contextmanager
def watched(cluster: Cluster, status_topic: str) -> Iterator[Arrivals]:
    """Follow all streams, and the states of the tasks, while the context is open."""
    arrivals, stopped = Arrivals(), threading.Event()
    for task in cluster.tasks():
        arrivals.counts[task] = Counter()
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": "watch", "enable.auto.commit": False, "log_level": 4}
    consumer = Consumer(settings)
    wanted = [TopicPartition(f"out.{name}", number, 0) for name, number in cluster.tasks()]
    statuses = consumer.list_topics(status_topic, timeout=30).topics[status_topic].partitions
    consumer.assign([*wanted, *(TopicPartition(status_topic, number, 0) for number in statuses)])

    def follow() -> None:
        while not stopped.is_set():
            for message in consumer.consume(500, 0.2):
                if message.error():
                    continue
                if message.topic() == status_topic:
                    _state(arrivals, message.key() or b"", message.value(), message.timestamp()[1] / 1000)
                else:
                    name, task, number = (message.value() or b"").decode().split()
                    arrivals.times[name, int(task)].append(time.time())
                    arrivals.counts[name, int(task)][int(number)] += 1
        consumer.close()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield arrivals
    finally:
        stopped.set()
        thread.join()


def _state(arrivals: Arrivals, key: bytes, value: bytes | None, at: float) -> None:
    name, _, number = key.decode().removeprefix("status-task-").rpartition("-")
    if key.startswith(b"status-task-") and value is not None:
        status = json.loads(value)
        arrivals.states[name, int(number)].append((at, status["state"], status["worker_id"]))
