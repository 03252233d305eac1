"""What a sink's task does before it reads, and the ids of its batches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.file_stream.sink import FileStreamSinkTask
from headrace.connectors.sink import SinkBatch, SinkTask
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.groups import Partition
from headrace.kafka.positions import StartPositions
from headrace.runtime.metrics.registry import Metrics
from headrace.runtime.sink.delivery import SinkBatchRange, SinkPorts
from headrace.runtime.sink.partitions import AssignedPartitions
from headrace.runtime.sink.worker_sink_task import WorkerSinkTask
from headrace.runtime.stream_mode import StreamMode
from tests.runtime.test_sink_plan import plan


def test_a_dead_letter_topic_that_was_not_ensured_is_ensured_by_the_next_call() -> None:
    asked: list[str] = []

    def ensure(topic: str, _replication_factor: int) -> None:
        asked.append(topic)
        raise RetriableError("Timed out while describing topics 'dlq'")

    unused, recorder = cast("Any", None), Metrics().task("c", 1, "sink")
    ports = SinkPorts(unused, ensure, unused, unused, unused, unused, recorder, unused)
    config = {"topics": "a", "file": "f", "errors.tolerance": "all", "errors.deadletterqueue.topic.name": "dlq"}
    work = WorkerSinkTask(plan(config), FileStreamSinkTask(TaskContext("c", 1)), unused, ports, unused)
    for _ in range(2):
        with pytest.raises(RetriableError, match="Timed out while describing topics 'dlq'"):
            work.once()
    assert asked == ["dlq", "dlq"]


def test_a_batch_that_comes_again_has_its_id_and_no_other_batch_has_it() -> None:
    def batch(starts: dict[Partition, int], ends: dict[Partition, int], topic_id: str = "1") -> int:
        ranges = {partition: (starts[partition], end) for partition, end in ends.items()}
        return SinkBatchRange(ranges, None, {}, ends, starts, {"t": topic_id}).id

    p0, p1 = ("t", 0), ("t", 1)
    first = batch({p0: 0, p1: 50}, {p0: 100})
    assert 0 < first < 2**63
    assert batch({p1: 50, p0: 0}, {p0: 150, p1: 60}) == first, "longer after a crash, and with records of another partition"
    others = [
        batch({p0: 100, p1: 50}, {p0: 150}),
        batch({p0: 0}, {p0: 150}),  # as many offsets, after the partitions were dealt anew
        batch({p0: 50, p1: 0}, {p0: 100}),
        batch({p0: 0, p1: 50}, {p0: 100}, topic_id="2"),  # recreated
    ]
    assert len({first, *others}) == 5


class _Batches(SinkTask):
    def put(self, batch: SinkBatch) -> None:
        raise AssertionError("there is no batch")


def test_before_its_first_batch_a_sink_says_that_it_takes_batches_and_commits_the_positions_that_it_looked_up() -> None:
    modes: list[StreamMode] = []
    commits: list[object] = []
    unused, recorder = cast("Any", None), Metrics().task("c", 1, "sink")

    def no_session() -> Any:
        raise ConnectError("There is no session")

    assigned = AssignedPartitions((("a", 0), ("a", 1)), {"a": 2}, False, {"a": "1"})
    start = StartPositions({("a", 0): 5, ("a", 1): 8}, looked_up=(("a", 1),))
    partitions: Any = SimpleNamespace(assigned=lambda: assigned, start=lambda _: start)
    ports = SinkPorts(
        lambda *commit: commits.append(commit), unused, unused, unused, unused, unused, recorder, modes.append
    )  # fmt: skip
    work = WorkerSinkTask(plan({"topics": "a"}), _Batches(TaskContext("c", 1)), partitions, ports, no_session)
    for _ in range(2):
        with pytest.raises(ConnectError, match="There is no session"):
            work.once()
    assert modes == [StreamMode("microbatch", "the sink takes batches")]
    assert commits == [("connect-c", {("a", 1): 8})] * 2
