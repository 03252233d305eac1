"""What a bad request, or a source cluster that is not there, leaves behind: a clear answer and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.errors import RestError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]

CONFIGS = "tests-config"


def refused(worker: EmbeddedWorker, destination: Cluster, body: object) -> RestError:
    """The error answer to POST /connectors; nothing is there that was not before."""
    before = worker.call("GET", "/connectors"), destination.size(CONFIGS)
    with pytest.raises(RestError) as raised:
        worker.call("POST", "/connectors", body)
    assert (worker.call("GET", "/connectors"), destination.size(CONFIGS)) == before
    return raised.value


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source.topic.whitelist": None}, 'Missing required configuration "source.topic.whitelist" which has no default value.'),
        ({"source.topic.whitelist": "a("}, "a( is an invalid regex for config source.topic.whitelist"),
        ({"source.bootstrap.servers": ""}, "At least one bootstrap server must be configured in source.bootstrap.servers"),
        ({"tasks.max": "two"}, "Invalid value two for configuration tasks.max: Not a number of type INT"),
        ({"topic.list.timeout.ms": "0"}, "Invalid value 0 for configuration topic.list.timeout.ms: Value must be at least 1"),
        (
            {"topic.creation.groups": "a,a"},
            "Invalid value [a, a] for configuration topic.creation.groups: Duplicate alias provided.",
        ),
    ],
)
def test_a_bad_option_is_refused_in_kafkas_words_and_nothing_is_created(
    worker: EmbeddedWorker, source: Cluster, destination: Cluster, changes: dict[str, str | None], sentence: str
) -> None:
    one = Mirror(worker, (source, destination), "refused", "t", changes)
    error = refused(worker, destination, {"name": one.name, "config": one.config})
    assert error.status == 400
    assert "Connector configuration is invalid and contains the following" in str(error)
    assert f"\n{sentence}\n" in str(error)


def test_every_problem_of_a_configuration_is_told_at_once(worker: EmbeddedWorker, source: Cluster, destination: Cluster) -> None:
    one = Mirror(worker, (source, destination), "refused", "t", {"tasks.max": "0", "poll.loop.timeout.ms": "x"})
    error = refused(worker, destination, {"name": one.name, "config": one.config})
    assert "\nInvalid value 0 for configuration tasks.max: Value must be at least 1\n" in str(error)
    assert "\nInvalid value x for configuration poll.loop.timeout.ms: Not a number of type INT\n" in str(error)


def test_an_unknown_class_is_refused_with_those_there_are(worker: EmbeddedWorker, destination: Cluster) -> None:
    error = refused(worker, destination, {"name": "refused", "config": {"connector.class": "NoSuchConnector"}})
    assert error.status == 400
    assert "Failed to find any class that implements Connector and which name matches NoSuchConnector" in str(error)
    assert "org.apache.kafka.connect.kafka.KafkaSourceConnector" in str(error)


def test_a_name_that_is_taken_is_refused(worker: EmbeddedWorker, source: Cluster, mirror: Make, topic_name: Name) -> None:
    source.create(topic := topic_name("taken"))
    one = mirror(topic)
    wait_until(lambda: one.states() == ["RUNNING", "RUNNING"], CONNECTOR_S, lambda: str(one.status()))  # all configs are there
    error = refused(worker, one.destination, {"name": one.name, "config": {**one.config, "tasks.max": "7"}})
    assert (error.status, str(error).partition("409: ")[2]) == (409, f"Connector {one.name} already exists")
    assert one.worker.call("GET", one.path + "/config")["tasks.max"] == "1"


def test_a_source_cluster_that_is_not_there_fails_the_connector_in_time(mirror: Make, topic_name: Name) -> None:
    one = mirror(topic_name("away"), {"source.bootstrap.servers": "127.0.0.1:1", "topic.list.timeout.ms": "3000"})
    trace = one.trace()
    assert trace.startswith(
        "org.apache.kafka.connect.errors.ConnectException: Timeout while waiting for AdminClient to return topic list. This "
        "likely indicates a (possibly transient) connection issue, but could be an indicator that the timeout is set too low.\n"
    )
    assert "127.0.0.1:1" in trace
    assert one.states() == ["FAILED"]
    one.configure({"source.bootstrap.servers": one.source.bootstrap})
    one.await_states("RUNNING")
