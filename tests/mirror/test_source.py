"""What MirrorSourceConnector does to topics and records."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.formats import OffsetSync
from tests.clusters import record
from tests.mirror.flow import FLOW_S, Flow
from tests.support import wait_until


def test_records_keep_partition_timestamp_and_headers_in_a_copy_made_like_its_topic(flow: Flow) -> None:
    topic = f"{flow.name}-first"
    records = [record(b"k%d" % n, b"v", [("h", b"%d" % n)], timestamp=1_000 + n, partition=n % 3) for n in range(300)]
    flow.source.produce(topic, records)
    assert flow.await_copied(topic, 300) == sorted(records, key=lambda r: r.partition)
    settings = flow.destination.admin.topic_configs(flow.copy(topic), own_only=True)
    assert settings == {"max.message.bytes": "2000000", "retention.ms": "-1"}  # min.insync.replicas is excluded


def test_offsets_are_stored_as_mirror_maker_stores_them(flow: Flow) -> None:
    topic = f"{flow.name}-first"
    path = f"/connectors/{flow.name}-MirrorSourceConnector/offsets"

    def stored() -> dict[int, int]:
        entries = flow.worker.call("GET", path)["offsets"]
        assert all(e["partition"].keys() == {"cluster", "partition", "topic"} for e in entries)
        mine = [e for e in entries if e["partition"]["topic"] == topic and e["partition"]["cluster"] == flow.alias]
        return {e["partition"]["partition"]: e["offset"]["offset"] for e in mine}

    wait_until(lambda: stored() == {0: 99, 1: 99, 2: 99}, FLOW_S, "an offset of each partition")
    topic_id = flow.source.admin.topic_ids([topic])[topic]
    mine = [e["offset"] for e in flow.worker.call("GET", path)["offsets"] if e["partition"]["topic"] == topic]
    assert mine == [{"topicId": topic_id, "offset": 99}] * 3  # MirrorMaker reads `offset` alone


def test_a_topic_made_anew_is_recognized_and_copied_again_where_that_is_asked_for(flow: Flow) -> None:
    topic, name = f"anew-{flow.name}", f"{flow.name}-rewinding"
    config = {"name": name, "source.cluster.alias": name, "topics": topic, "source.data.loss": "rewind"}
    flow.source.create(topic)
    flow.source.produce(topic, [record(value=b"old")] * 10)
    flow.deploy("MirrorSourceConnector", {**config, "tasks.max": "1"})
    copy = f"{name}.{topic}"
    wait_until(lambda: flow.destination.size(copy) == 10, FLOW_S, "all is copied")

    def stored() -> list[int]:
        return [entry["offset"]["offset"] for entry in flow.worker.call("GET", f"/connectors/{name}/offsets")["offsets"]]

    wait_until(lambda: stored() == [9], FLOW_S, "and stored")
    flow.source.admin.delete([topic])
    flow.source.create(topic)
    flow.source.produce(topic, [record(value=b"%d" % n) for n in range(20)])

    def copied() -> list[bytes | None]:
        return [r.value for r in flow.destination.read(copy)][-20:]

    wait_until(lambda: copied() == [b"%d" % n for n in range(20)], FLOW_S, f"the new topic is; {flow.status(name)}")
    (loss,) = [json.loads(r.value or b"") for r in flow.destination.read(f"{name}-loss")]
    assert (loss["source"], loss["reason"], loss["first_lost"], loss["action"]) == (name, "recreated", 10, "rewind")
    flow.remove(name)


def test_every_worker_knows_how_far_each_partition_is_behind(flow: Flow) -> None:
    def mine() -> list[dict[str, Any]]:
        found = flow.worker.call("GET", f"/headrace/connectors/{flow.name}-MirrorSourceConnector/lag")
        return [p for p in found["partitions"] if p["topic"] == f"{flow.name}-first"]

    def read() -> list[dict[str, Any]]:
        found = mine()  # a time is None if it could not be read within a few seconds
        return found if all(p["timestamp"] is not None for p in found) else []

    found = wait_until(read, FLOW_S, lambda: f"times of all partitions; {mine()}")
    assert [(p["partition"], p["offset"], p["end_offset"], p["lag"], p["freshness_ms"]) for p in found] == [
        (n, 99, 100, 0, 0) for n in range(3)
    ]
    assert [p["timestamp"] for p in found] == [1_297, 1_298, 1_299]


def test_offset_syncs_tell_where_the_next_record_will_be(flow: Flow) -> None:
    topic = f"{flow.name}-first"

    def syncs() -> dict[int, OffsetSync]:
        found = [OffsetSync.read(r.key, r.value) for r in flow.source.read(f"mm2-offset-syncs.{flow.name}-b.internal")]
        return {sync.partition: sync for sync in found if sync.topic == topic}

    wait_until(lambda: syncs() == {p: OffsetSync(topic, p, 99, 99) for p in range(3)}, FLOW_S, "a sync of each partition")


def test_metrics_tell_counts_and_latencies_of_each_partition(flow: Flow) -> None:
    labels = {"source": flow.alias, "target": f"{flow.name}-b", "topic": flow.copy(f"{flow.name}-first"), "partition": "1"}

    def found() -> dict[str, float]:
        families = text_string_to_metric_families(httpx.get(flow.worker.url.rstrip("/") + "/metrics", timeout=100).text)
        samples = [sample for family in families for sample in family.samples if sample.labels == labels]
        return {sample.name.removeprefix("kafka_connect_mirror_mirrorsourceconnector_"): sample.value for sample in samples}

    wait_until(lambda: found().get("record_count") == 100, FLOW_S, "the count of a partition")
    measured = found()
    assert measured["byte_count"] == sum(len(b"k%d" % n) + 1 for n in range(1, 300, 3))
    oldest = time.time() * 1000  # the records have timestamps of a few ms since the epoch
    for name in ("record_age_ms", "replication_latency_ms"):  # what has come since the last update: one record, or all of them
        low, average, high = (measured[f"{name}_{of}"] for of in ("min", "avg", "max"))
        assert oldest - 3_600_000 < low <= average <= high <= low + 3_600_000


def test_new_topics_partitions_and_settings_follow(flow: Flow) -> None:
    topic = f"{flow.name}-later"
    flow.source.create(topic, 1)
    wait_until(lambda: flow.destination.admin.describe(flow.copy(topic)), FLOW_S, "the copy of a new topic")
    admin = MirrorAdmin({"bootstrap.servers": flow.source.bootstrap})
    flow.source.grow(topic, 2)  # before that is known, a producer refuses a record of the new partition
    admin.alter(topic, {"retention.ms": "12345678900000", "max.message.bytes": "1500000"})
    flow.source.produce(topic, [record(partition=1)])
    assert flow.await_copied(topic, 1)[0].partition == 1

    def settings() -> dict[str, str | None]:
        return flow.destination.admin.topic_configs(flow.copy(topic), own_only=True)

    wait_until(lambda: settings() == {"retention.ms": "12345678900000", "max.message.bytes": "1500000"}, FLOW_S, "its settings")
    admin.alter(topic, {"max.message.bytes": None})
    wait_until(lambda: settings() == {"retention.ms": "12345678900000"}, FLOW_S, "a setting is gone")


def test_offset_syncs_are_written_after_each_micro_batch(flow: Flow) -> None:
    topic, target = f"{flow.name}-json", f"{flow.name}-c"
    flow.source.create(topic)
    changes: dict[str, str | None] = {
        "name": f"{flow.name}-batches", "source.cluster.alias": f"{flow.name}-d", "target.cluster.alias": target,
        "topics": topic, "sync.topic.acls.enabled": "false",
        "transforms": "mine", "transforms.mine.type": "tests.transforms.own_plugins.Counted",
        **{f"{side}value.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("", "source.")},
        **{f"{side}value.converter.schemas.enable": "false" for side in ("", "source.")},
    }  # fmt: skip
    name = flow.deploy("MirrorSourceConnector", changes)
    for records in (3, 7):
        flow.source.produce(topic, [record(b"k", b'{"n": 1}') for _ in range(records - flow.source.size(topic))])

        def last(of: int = records) -> bool:
            found = flow.source.read(f"mm2-offset-syncs.{target}.internal")
            return bool(found) and OffsetSync.read(found[-1].key, found[-1].value) == OffsetSync(topic, 0, of, of - 1)

        wait_until(last, FLOW_S, f"a sync behind {records} records")
    flow.remove(name)
