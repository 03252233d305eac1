"""Every metric that boards and alerts name of workers and tasks is in `/metrics` of a worker that runs a mirror and a sink."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.clusters import record
from tests.deploy.test_dashboards import shown, used
from tests.mirror.flow import FLOW_S, Flow
from tests.mirror.test_groups import LATENCIES
from tests.support import wait_until

_OF_CHECKPOINTS = ("kafka_connect_mirror_mirrorcheckpointconnector_", "kafka_connect_plugins_checkpoint_")
"""What test_groups.py finds, where there are checkpoints."""
_ELSEWHERE = ("headrace_streams_", *_OF_CHECKPOINTS)


def test_the_metrics_of_boards_and_alerts_are_those_of_a_live_worker(flow: Flow, tmp_path: Path) -> None:
    flow.source.create(topic := f"{flow.name}-boards", 1)  # other tests count the records of the flow's own topic
    flow.source.produce(topic, [record()])
    sink = {"connector.class": "FileStreamSink", "topics": flow.copy(topic), "file": str(tmp_path / "copied")}
    flow.worker.call("PUT", f"/connectors/{flow.name}-sink/config", sink)
    wanted = {name for name in used() if not name.startswith(_ELSEWHERE)}

    def missing() -> set[str]:
        return wanted - shown(httpx.get(flow.worker.url.rstrip("/") + "/metrics").text)

    assert {name for name in used() if name.startswith(_OF_CHECKPOINTS)} <= LATENCIES
    try:
        wait_until(lambda: not missing(), FLOW_S, lambda: f"metrics that are not there: {sorted(missing())}")
    finally:
        flow.remove(f"{flow.name}-sink")
