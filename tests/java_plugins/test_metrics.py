"""What plugins measure themselves (KIP-877), and what Kafka's own code measures of a sink task."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import COUNTING, JOURNAL, MONITORABLE
from tests.java_plugins.test_sink import TEXT, await_values
from tests.java_plugins.test_source import records_of
from tests.support import wait_until


def lines(deployed: Deployed) -> list[str]:
    """The samples of a connector."""
    name = f'connector="{deployed.name}"'
    return [line for line in httpx.get(deployed.worker.url + "/metrics", timeout=60).text.splitlines() if name in line]


def await_sample(deployed: Deployed, metric: str, value: float, is_right: Callable[[float, float], bool] = operator.eq) -> None:
    """Wait until the sample of a metric compares with this value so."""

    def there() -> bool:
        return any(line.startswith(metric + "{") and is_right(float(line.split()[-1]), value) for line in lines(deployed))

    wait_until(there, CONNECTOR_S, lambda: f"{metric} {value} in {lines(deployed)}")


def test_metrics_of_a_source_task_are_shown_and_begin_again_with_it(
    connector: Callable[..., Deployed], topic_name: Callable[[str], str]
):
    source = connector(COUNTING, topic=topic_name("measured"), records="7")
    await_sample(source, "kafka_connect_plugins_counted", 7)
    source.await_states("RUNNING", "RUNNING")  # what is written of a start may be read back after the first sample is there
    source.restart("?includeTasks=true")
    await_sample(source, "kafka_connect_plugins_counted", 7)
    source.await_states("RUNNING", "RUNNING")


def test_metrics_of_a_sink_task_are_shown(
    connector: Callable[..., Deployed], cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic = topic_name("measured")
    cluster.create(topic)
    cluster.produce(topic, [record(b"k", b"a"), record(b"k", b"b")])
    sink = connector(JOURNAL, topics=topic, journal=str(tmp_path / "journal"), **TEXT)
    await_values(tmp_path / "journal", "a", "b")
    await_sample(sink, "kafka_connect_plugins_answer", 42)
    await_sample(sink, "kafka_connect_sink_task_metrics_sink_record_send_total", 2)


def test_kafkas_monitorable_source_shows_its_metrics(
    connector: Callable[..., Deployed], cluster: Cluster, topic_name: Callable[[str], str]
):
    topic = topic_name("monitored")
    source = connector(MONITORABLE.format("Source"), topic=topic, messages_per_poll="5", max_messages="20")
    assert {r.value for r in records_of(cluster, topic, 20)} == {
        b'"value-%s-0-%d"' % (source.name.encode(), n) for n in range(1, 21)
    }
    await_sample(source, "kafka_connect_plugins_poll", 20)


def test_kafkas_monitorable_sink_shows_its_metrics(
    connector: Callable[..., Deployed], cluster: Cluster, topic_name: Callable[[str], str]
):
    topic = topic_name("monitored")
    cluster.create(topic)
    cluster.produce(topic, [record(b"1", b"1"), record(b"2", b"2"), record(b"3", b"3")])
    sink = connector(MONITORABLE.format("Sink"), topics=topic)
    await_sample(sink, "kafka_connect_plugins_put", 3)
