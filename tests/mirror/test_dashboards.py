"""The page of metrics, which boards and alerts are checked by, is what a worker with a mirror, a source and a sink shows."""

from __future__ import annotations

from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from headrace.metric_pages import Row, worker_rows
from tests.clusters import record
from tests.mirror.flow import FLOW_S, Flow
from tests.support import wait_until

_NOT_HERE = (
    "headrace_streams_",  # no application reports to this worker
    "kafka_connect_source_task_metrics_transaction_size_",  # of sources that write exactly once
    "headrace_task_last_error",  # of a task that has failed
    "headrace_task_restart_pending",  # the same
)
_OF_GROUPS = "kafka_connect_connect_worker_rebalance_metrics_"
"""Of workers that have rebalanced."""


def live(flow: Flow) -> set[Row]:
    """The series of the worker, but for those of its process."""
    families = text_string_to_metric_families(httpx.get(flow.worker.url.rstrip("/") + "/metrics", timeout=100).text)
    samples = [sample for family in families for sample in family.samples if not sample.name.startswith("process_")]
    return {(sample.name, tuple(sorted(sample.labels))) for sample in samples}


def test_the_metrics_of_the_page_are_those_of_a_live_worker_with_their_labels(flow: Flow, tmp_path: Path) -> None:
    topic, group = f"{flow.name}-boards", f"{flow.name}-boards-readers"
    flow.source.create(topic, 1)  # other tests count the records of the flow's own topic
    flow.source.produce(topic, [record()] * 3)
    flow.source.admin.commit(group, {(topic, 0): 1})
    flow.await_copied(topic, 3)
    sink = {"connector.class": "FileStreamSink", "topics": flow.copy(topic), "file": str(tmp_path / "copied")}
    flow.worker.call("PUT", f"/connectors/{flow.name}-sink/config", sink)
    copy = {
        "source.bootstrap.servers": flow.source.bootstrap,
        "source.topic.whitelist": topic,
        "destination.topics.prefix": "copy.",
    }
    creation = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    flow.worker.call("PUT", f"/connectors/{flow.name}-copy/config", {"connector.class": "KafkaSource", **copy, **creation})
    checkpoints = flow.deploy("MirrorCheckpointConnector", {
        "name": f"{flow.name}-boards-checkpoints", "checkpoints.topic.replication.factor": "1",
        "refresh.groups.interval.seconds": "1", "emit.checkpoints.interval.seconds": "1", "metric.names.formats": "legacy,new",
    })  # fmt: skip
    wanted = {row for row in worker_rows() if not row[0].startswith(_NOT_HERE)}
    in_groups = {row for row in wanted if row[0].startswith(_OF_GROUPS)}
    committed = iter(range(2, 10_000))

    def missing() -> set[Row]:
        flow.source.admin.commit(group, {(topic, 0): 2 + next(committed) % 2})  # a checkpoint is made of what has changed
        return wanted - in_groups - live(flow)

    try:
        wait_until(lambda: not missing(), FLOW_S, lambda: f"metrics that are not there: {sorted(missing())}")
        assert live(flow) <= worker_rows().keys()
        assert live(flow) & in_groups in (set(), in_groups)
    finally:
        flow.remove(f"{flow.name}-sink")
        flow.remove(f"{flow.name}-copy")
        flow.remove(checkpoints)
