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
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import COUNTING, MONITORABLE
from tests.java_plugins.conftest import CREATION
from tests.java_plugins.test_source import await_line, records_of
from tests.process import worker_properties
from tests.support import wait_until


@pytest.fixture(scope="module")
def careful_worker(
    java_worker: EmbeddedWorker, destination_broker: Broker, plugin_path: Path, topic_name: Callable[[str], str]
) -> Iterator[EmbeddedWorker]:
    """A worker that makes the same plugins known: it begins after the other one, whose are known again at its end."""
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
    config |= {"value.converter.passing": "2", "errors.retry.timeout": "-1", "errors.retry.delay.max.ms": "1"}
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


MONITORABLE_SOURCE = MONITORABLE.format("Source")
EXACTLY_ONCE = ("exactly.once.support", "transaction.boundary")


@pytest.mark.parametrize(
    ("support", "boundaries", "problems"),
    [
        ("supported", "supported", {}),
        ("unsupported", "supported", {"exactly.once.support": "does not support exactly-once semantics"}),
        ("null", "supported", {"exactly.once.support": "does not implement the API required for preflight validation"}),
        ("fail", "supported", {"exactly.once.support": "An unexpected error occurred during validation: oops"}),
        ("supported", "unsupported", {"transaction.boundary": "does not support connector-defined transaction boundaries"}),
        ("supported", "null", {"transaction.boundary": "does not support connector-defined transaction boundaries"}),
        ("supported", "fail", {"transaction.boundary": "An unexpected error occurred during validation: oh no :("}),
    ],
)
def test_what_a_class_says_of_exactly_once_is_in_the_answer_of_a_validation(
    java_worker: EmbeddedWorker, support: str, boundaries: str, problems: dict[str, str]
):
    config = {
        "connector.class": MONITORABLE_SOURCE, "name": "asked", "topic": "t", "tasks.max": "1",
        "exactly.once.support": "required", "transaction.boundary": "connector",
        "custom.exactly.once.support": support, "custom.transaction.boundaries": boundaries,
    }  # fmt: skip
    answer = java_worker.call("PUT", f"/connector-plugins/{MONITORABLE_SOURCE}/config/validate", config)
    errors = {value["name"]: value["errors"] for value in (entry["value"] for entry in answer["configs"]) if value["errors"]}
    of_worker = "This worker does not have exactly-once source support enabled."
    assert of_worker in errors["exactly.once.support"]
    errors["exactly.once.support"].remove(of_worker)
    of_class = {name: sentences for name, sentences in errors.items() if sentences and name in EXACTLY_ONCE}
    assert of_class.keys() == problems.keys()
    assert all(problem in of_class[name][0] for name, problem in problems.items())


def test_kafkas_own_task_commits_and_aborts_transactions_within_what_it_polls(
    careful_worker: EmbeddedWorker, cluster: Cluster, topic_name: Callable[[str], str]
):
    topic = topic_name("bounds")
    config = {"connector.class": MONITORABLE_SOURCE, "topic": topic, "messages.per.poll": "7", "max.messages": "56", **CREATION}
    config |= {"exactly.once.support": "required", "transaction.boundary": "connector", "value.converter": "StringConverter"}
    config |= {"custom.exactly.once.support": "supported", "custom.transaction.boundaries": "supported"}
    source = Deployed(careful_worker, topic_name("bounds"), config)
    source.create()
    # It ends transactions at Fibonacci's numbers, and aborts those that end at an even one: TestableSourceConnector.
    committed = [1, 3, 4, 5, *range(9, 22), *range(35, 56)]
    wait_until(lambda: len(cluster.read(topic)) >= len(committed), CONNECTOR_S, "the transactions that are committed")
    assert [int((r.value or b"").rpartition(b"-")[2]) for r in cluster.read(topic)] == committed
    source.put("stop")
    source.await_states("STOPPED")
    (stored,) = careful_worker.call("GET", source.path + "/offsets")["offsets"]
    assert stored["offset"] == {"saved": 55}  # of the last transaction that was committed
    source.delete()


def test_with_a_boundary_by_interval_a_transaction_has_the_records_of_many_polls(
    careful_worker: EmbeddedWorker, cluster: Cluster, topic_name: Callable[[str], str]
):
    topic = topic_name("interval")
    config = {"connector.class": MONITORABLE_SOURCE, "topic": topic, "messages.per.poll": "2", "max.messages": "60", **CREATION}
    config |= {
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": "3000",
        "value.converter": "StringConverter",
    }
    source = Deployed(careful_worker, topic_name("interval"), config)
    source.create()
    wait_until(lambda: len(cluster.read(topic)) == 60, CONNECTOR_S, "all records")
    markers = cluster.size(topic) - 60
    assert 1 <= markers < 30  # one for each transaction; by poll there were 30
    source.delete()
