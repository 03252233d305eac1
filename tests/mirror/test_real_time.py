"""A mirror in real-time mode: records as they come, offsets and offset syncs meanwhile."""

from __future__ import annotations

import httpx
from prometheus_client.parser import text_string_to_metric_families

from headrace.connectors.mirror.formats import OffsetSync
from tests.clusters import record
from tests.mirror.flow import FLOW_S, Flow
from tests.support import wait_until


def test_offset_syncs_are_exact_while_records_go_on_and_others_write_to_the_copy(flow: Flow) -> None:
    name, topic = f"{flow.name}-live", f"live-{flow.name}"
    copy = f"{name}.{topic}"
    flow.source.create(topic)
    config = {"name": name, "source.cluster.alias": name, "topics": topic, "tasks.max": "1"}
    flow.deploy("MirrorSourceConnector", {**config, "target.cluster.alias": f"{name}-b", "metric.names.formats": "legacy,new"})

    def syncs() -> list[OffsetSync]:
        found = [OffsetSync.read(r.key, r.value) for r in flow.source.read(f"mm2-offset-syncs.{name}-b.internal")]
        return [sync for sync in found if sync.topic == topic]

    def stored() -> list[int]:
        return [e["offset"]["offset"] for e in flow.worker.call("GET", f"/connectors/{name}/offsets")["offsets"]]

    flow.source.produce(topic, [record(value=b"%d" % n) for n in range(100)])
    wait_until(lambda: syncs()[-1:] == [OffsetSync(topic, 0, 99, 99)], FLOW_S, f"a sync of the last record; {flow.status(name)}")
    flow.destination.produce(copy, [record(value=b"of somebody else")] * 7)
    flow.source.produce(topic, [record(value=b"%d" % n) for n in range(100, 150)])
    wait_until(lambda: syncs()[-1] == OffsetSync(topic, 0, 149, 156), FLOW_S, "the next one, after what others have written")
    wait_until(lambda: stored() == [149], FLOW_S, "the offset is stored")
    (stream,) = [task["stream"] for task in flow.worker.call("GET", f"/headrace/connectors/{name}/status")["tasks"]]
    assert stream == {"mode": "realtime", "reason": "the data plane copies record by record"}
    # What is measured of records comes after their offsets.
    labels = {"source": name, "topic": copy, "partition": "0"}
    wait_until(lambda: measured(flow, labels)["record_count"] == 150, FLOW_S, "all are counted")
    wait_until(lambda: plugin_metrics(flow, name, copy)["kafka_connect_plugins_record_count"] == 150, FLOW_S, "there as well")
    copied = [r.value for r in flow.destination.read(copy)]
    for sync in syncs()[1:]:  # the first one says where the copy begins
        assert copied[sync.downstream] == b"%d" % sync.upstream
    flow.remove(name)


def plugin_metrics(flow: Flow, name: str, copy: str) -> dict[str, float]:
    """What is measured of partition 0 under the names of KIP-1280."""
    labels = {"connector": name, "task": "0", "topic": copy, "partition": "0"}
    families = text_string_to_metric_families(httpx.get(flow.worker.url.rstrip("/") + "/metrics", timeout=100).text)
    samples = [s for family in families for s in family.samples if labels.items() <= s.labels.items()]
    return {s.name: s.value for s in samples if s.name.startswith("kafka_connect_plugins_")}


def measured(flow: Flow, labels: dict[str, str]) -> dict[str, float]:
    families = text_string_to_metric_families(httpx.get(flow.worker.url.rstrip("/") + "/metrics", timeout=100).text)
    samples = [s for family in families for s in family.samples if labels.items() <= s.labels.items()]
    found = {s.name.removeprefix("kafka_connect_mirror_mirrorsourceconnector_"): s.value for s in samples}
    assert found["replication_latency_ms_min"] <= found["replication_latency_ms_avg"] <= found["replication_latency_ms_max"]
    return found
