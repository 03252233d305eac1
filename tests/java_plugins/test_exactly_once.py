"""Source connectors in Java on a worker with exactly-once support (KIP-618)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace import plugins
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.errors import RestError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import Deployed
from tests.java_plugins.archives import COUNTING
from tests.java_plugins.conftest import CREATION
from tests.java_plugins.test_source import await_line, records_of
from tests.process import worker_properties


@pytest.fixture
def careful_worker(destination_broker: Broker, plugin_path: Path, topic_name: Callable[[str], str]) -> Iterator[EmbeddedWorker]:
    props = worker_properties(topic_name("careful"), f"http://127.0.0.1:{free_port()}")
    props |= {"plugin.path": str(plugin_path), "plugin.discovery": "service_load", "exactly.once.source.support": "enabled"}
    props |= {"value.converter": "org.apache.kafka.connect.json.JsonConverter", "key.converter": "StringConverter"}
    before = plugins.java_plugins()
    with EmbeddedWorker(destination_broker.bootstrap, props) as running:
        yield running
    plugins.set_java_plugins(before)


def test_records_and_offsets_are_committed_together_across_a_restart(
    careful_worker: EmbeddedWorker, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic, journal = topic_name("once"), tmp_path / "journal"
    config = {"connector.class": COUNTING, "topic": topic, "records": "30", "journal": str(journal), **CREATION}
    config |= {"exactly.once.support": "required", "value.converter": "PlainConverter"}
    source = Deployed(careful_worker, topic_name("careful"), config)
    source.create()
    await_line(journal, "stored 30")
    source.restart("?includeTasks=true")
    await_line(journal, "start at 30")
    found = [r.value for r in records_of(cluster, topic, 30)]
    assert [value and value.split(b",")[0].rstrip(b"}") for value in found] == [b"Struct{n=%d" % n for n in range(30)]
    source.delete()


def test_a_task_says_where_transactions_end_and_what_it_aborts_is_left_out(
    careful_worker: EmbeddedWorker, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic, journal = topic_name("own"), tmp_path / "journal"
    config = {"connector.class": COUNTING, "topic": topic, "records": "17", "journal": str(journal), **CREATION}
    config |= {"transaction.boundary": "connector", "value.converter": "PlainConverter"}
    source = Deployed(careful_worker, topic_name("own"), config)
    with pytest.raises(RestError, match="does not support connector-defined transaction boundaries"):
        source.create()
    source.config["transactions"] = "yes"
    source.create()
    await_line(journal, "stored 15")
    found = [r.value for r in records_of(cluster, topic, 10)]
    assert [value and value.split(b",")[0].rstrip(b"}") for value in found] == [
        b"Struct{n=%d" % n for n in (*range(5), *range(10, 15))
    ]
    source.delete()
