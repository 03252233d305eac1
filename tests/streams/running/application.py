"""An application on a real broker, with topics of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.streams import Consumed, KafkaStreams, Materialized, Produced, Serdes, StreamsBuilder
from headrace.streams.states import State
from tests.clusters import Cluster, record
from tests.support import quick_java, wait_until

WAIT_S = 180


class Application:
    """Counts of values, from and to topics of its own."""

    def __init__(self, cluster: Cluster, topic_name: Callable[[str], str], **config: str) -> None:
        self.cluster, self.id = cluster, topic_name("app")
        self.source, self.sink = topic_name("in"), topic_name("out")
        cluster.create(self.source, 2)
        cluster.create(self.sink, 1)
        self.changelog, self.repartition = f"{self.id}-counts-changelog", f"{self.id}-counts-repartition"
        self.config = {
            "application.id": self.id, "bootstrap.servers": cluster.bootstrap, "session.timeout.ms": "30000",
            "heartbeat.interval.ms": "500", "metadata.max.age.ms": "500", **config,
        }  # fmt: skip

    def streams(self) -> KafkaStreams:
        builder = StreamsBuilder()
        stream = builder.stream(self.source, Consumed.with_(Serdes.string(), Serdes.string()))
        counts = stream.group_by(lambda key, value: value).count(Materialized.as_("counts"))
        counts.to_stream().to(self.sink, Produced.with_(Serdes.string(), Serdes.long()))
        return KafkaStreams(builder.build(self.config), self.config)

    @contextmanager
    def running(self) -> Iterator[KafkaStreams]:
        with self.streams() as streams:
            streams.start()
            assert streams.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000), streams.state()
            assert streams.state() is State.RUNNING, streams.error
            yield streams

    def send(self, *values: str, partition: int | None = None) -> None:
        where = [i % 2 if partition is None else partition for i in range(len(values))]
        self.cluster.produce(self.source, [record(None, v.encode(), partition=p) for v, p in zip(values, where, strict=True)])

    def await_committed(self) -> None:
        """Wait until the offsets after all records are committed: what a successor finds begun is done again, at least once."""
        ends = self.cluster.admin.partition_offsets([(self.source, 0), (self.source, 1)], "latest")
        committed = lambda: self.cluster.admin.committed(self.id, partitions=ends)  # noqa: E731
        wait_until(lambda: committed() == ends, WAIT_S, lambda: f"{ends} committed, not {committed()}")

    def results(self) -> dict[str, int]:
        records = self.cluster.read(self.sink)
        return {r.key.decode(): int.from_bytes(r.value, "big") for r in records if r.key and r.value}

    def await_results(self, expected: dict[str, int]) -> None:
        wait_until(lambda: self.results() == expected, WAIT_S, lambda: f"{expected}, not {self.results()}")


@contextmanager
def process(directory: Path, app: str, config: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`headrace streams run` as a process of its own."""
    settings = [part for key, value in config.items() for part in ("--set", f"{key}={value}")]
    with (directory / "out").open("wb") as out, (directory / "err").open("wb") as err:
        command = [sys.executable, "-m", "headrace.cli", "streams", "run", app, *settings]
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, process_group=0, env=quick_java())
    try:
        yield running
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
