"""What /metrics shows of connectors that run: exactly what was delivered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_transforms import CAST, SCHEMALESS
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
_KAFKA = "kafka_connect_"
SOURCE, TASK, ERROR = (f"{_KAFKA}{group}_metrics_" for group in ("source_task", "connector_task", "task_error"))


def measured(worker: EmbeddedWorker, connector: str) -> dict[str, float]:
    """The numbers of a connector and its task 0, by name."""
    families = text_string_to_metric_families(httpx.get(worker.url.rstrip("/") + "/metrics", timeout=100).text)
    samples = [sample for family in families for sample in family.samples]
    here = [s for s in samples if s.labels.get("connector") == connector and s.labels.get("task", "0") == "0"]
    return {s.name + s.labels.get("status", ""): s.value for s in here}


def of_partition(worker: EmbeddedWorker, connector: str, partition: str) -> dict[str, float]:
    """The numbers of one partition of a connector's task 0, by name."""
    families = text_string_to_metric_families(httpx.get(worker.url.rstrip("/") + "/metrics", timeout=100).text)
    labels = {"connector": connector, "task": "0", "partition": partition}
    start = "headrace_task_partition_"
    samples = [sample for family in families for sample in family.samples if sample.labels == labels]
    return {sample.name.removeprefix(start): sample.value for sample in samples}


def await_measured(worker: EmbeddedWorker, connector: str, expected: Mapping[str, float]) -> dict[str, float]:
    """Wait until these are measured; returns all."""

    def there() -> dict[str, float]:
        found = measured(worker, connector)
        return found if expected.items() <= found.items() else {}

    return wait_until(there, CONNECTOR_S, f"{expected}, not {measured(worker, connector)}")


def test_a_mirror_counts_each_record_once(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("counted")
    source.create(topic, partitions=2)
    source.produce(topic, [record(b"k", b"%d" % n, partition=n % 2) for n in range(70)])
    one = mirror(topic)
    one.await_copied(topic, 70)  # its first batch is looked at before it is written
    source.produce(topic, [record(b"k", b"%d" % n) for n in range(30)])
    one.await_copied(topic, 100)
    found = await_measured(one.worker, one.name, {
        f"{SOURCE}source_record_poll_total": 100, f"{SOURCE}source_record_write_total": 100,
        "headrace_task_record_lag": 0, f"{TASK}offset_commit_success_percentage": 1,
    })  # fmt: skip
    assert found[f"{TASK}status_inforunning"] == 1
    assert 30 <= found[f"{TASK}batch_size_max"] <= 70
    assert found[f"{SOURCE}poll_batch_max_time_ms"] > 0
    assert found["kafka_connect_connect_worker_metrics_connector_running_task_count"] == 1


def test_counts_and_latencies_of_each_partition_are_measured_as_mirror_maker_does(
    source: Cluster, mirror: Make, topic_name: Name
) -> None:
    topic = topic_name("aged")
    source.create(topic, partitions=2)
    source.produce(topic, [record(b"k", b"%03d" % n, timestamp=1_000_000 + n, partition=n % 2) for n in range(100)])
    one = mirror(topic)

    def measured_both() -> dict[str, float]:  # the lag is measured by itself
        now = of_partition(one.worker, one.name, f"{topic}-1")
        return now if now.get("record_count") and now.get("record_lag") == 0 else {}

    found = wait_until(measured_both, CONNECTOR_S, "counts and lag are measured")
    assert (found["record_count"], found["byte_count"]) == (50, 200)
    for ages in ("record_age_ms", "replication_latency_ms"):  # of what came since the update before
        low, average, high = (found[f"{ages}_{name}"] for name in ("min", "avg", "max"))
        assert 1_000_000_000 < low <= average <= high
        assert low <= found[ages] <= high


def test_counts_go_on_with_the_next_feed_of_a_task(source: Cluster, destination: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("again")
    first, small = f"{topic}-first", f"{topic}-small"
    source.create(topic)
    destination.create(first)
    destination.create(small, configs={"max.message.bytes": "2000"})  # for which the first feed's batches are too large
    source.produce(topic, [record(None, b'{"to":"%s"}' % to.encode()) for to in [first] * 10 + [small] * 200])
    sql = {"transforms": "sql", "transforms.sql.type": "headrace.transforms.Sql", "transforms.sql.topic": "value:to::string"}
    one = mirror(topic, {**SCHEMALESS, **sql})
    one.await_stored({f"{topic}:0": 209})
    assert of_partition(one.worker, one.name, f"{topic}-0")["record_count"] == 210


def test_a_transform_in_python_shows_metrics_of_its_own(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("seen")
    source.create(topic)
    source.produce(topic, [record(None, b'{"n": 1}')] * 3)
    own = {"transforms": "mine", "transforms.mine.type": "tests.transforms.own_plugins.Counted"}
    one = mirror(topic, {**SCHEMALESS, **own})
    one.await_copied(topic, 3)

    def seen() -> bool:  # Spark may run a batch more than once, and tells what was counted when its job has ended
        return measured(one.worker, one.name).get(f"{_KAFKA}plugins_seen", 0) >= 3

    wait_until(seen, CONNECTOR_S, lambda: f"three records are seen; {measured(one.worker, one.name)}")


def test_a_worker_of_a_group_shows_how_it_got_its_share(worker: EmbeddedWorker) -> None:
    families = text_string_to_metric_families(httpx.get(worker.url.rstrip("/") + "/metrics", timeout=100).text)
    prefix = "kafka_connect_connect_worker_rebalance_metrics_"
    found = {s.name.removeprefix(prefix): s for family in families for s in family.samples if s.name.startswith(prefix)}
    assert found["completed_rebalances_total"].value >= 1
    assert found["epoch"].value >= 1
    assert (found["rebalancing"].value, found["leader_name_info"].value) == (0, 1)
    assert found["leader_name_info"].labels["leader_name"].startswith("http://")
    assert found["time_since_last_rebalance_ms"].value > 0


def test_what_fails_is_counted_by_what_becomes_of_it(
    source: Cluster, mirror: Make, topic_name: Name, destination: Cluster
) -> None:
    topic, letters = topic_name("some"), topic_name("letters")
    source.create(topic)
    source.produce(topic, [record(b"k", b'{"n":"%d"}' % n if n % 10 else b'{"n":"x"}') for n in range(40)])
    tolerant = mirror(topic, {
        **SCHEMALESS, **CAST, "errors.tolerance": "all", "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.topic.replication.factor": "1",
    })  # fmt: skip
    await_measured(tolerant.worker, tolerant.name, {
        f"{SOURCE}source_record_poll_total": 40, f"{SOURCE}source_record_write_total": 36,
        f"{ERROR}total_record_errors": 4, f"{ERROR}total_records_skipped": 4, f"{ERROR}deadletterqueue_produce_requests": 4,
        f"{ERROR}total_errors_logged": 0,
    })  # fmt: skip
    assert destination.size(letters) == 4


def test_a_failed_task_is_still_measured(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("bad")
    source.create(topic)
    source.produce(topic, [record(b"k", b'{"n":"%d"}' % n if n != 7 else b'{"n":"x"}') for n in range(10)])
    one = mirror(topic, {**SCHEMALESS, **CAST})
    one.trace()
    found = await_measured(one.worker, one.name, {
        f"{TASK}status_infofailed": 1, f"{SOURCE}source_record_write_total": 7, f"{ERROR}total_record_failures": 1,
        "headrace_task_failures_total": 1, "headrace_task_last_error_info": 1,
    })  # fmt: skip
    assert found["kafka_connect_connect_worker_metrics_connector_failed_task_count"] == 1
    one.delete()
    assert measured(one.worker, one.name) == {}


def test_a_file_source_counts_each_line_once(worker: EmbeddedWorker, topic_name: Name, tmp_path: Path) -> None:
    name, file = topic_name("file"), tmp_path / "in.txt"
    file.write_text("".join(f"line {n}\n" for n in range(25)))
    config = {
        "connector.class": "FileStreamSource", "file": str(file), "topic": name,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    worker.call("POST", "/connectors", {"name": name, "config": config})
    try:
        await_measured(worker, name, {f"{SOURCE}source_record_poll_total": 25, f"{SOURCE}source_record_write_total": 25})
        with file.open("a") as more:
            more.write("one more\n")
        await_measured(worker, name, {f"{SOURCE}source_record_poll_total": 26, f"{SOURCE}source_record_write_total": 26})
    finally:
        worker.call("DELETE", f"/connectors/{name}")
