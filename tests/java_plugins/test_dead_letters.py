"""Records of sources in Java that a transform or converter in Java refuses, where errors are tolerated."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import COUNTING, LABEL, SHOUT
from tests.java_plugins.test_chain import LOUD
from tests.java_plugins.test_metrics import await_sample
from tests.java_plugins.test_source import OWN, records_of
from tests.support import wait_until

Create = Callable[..., Deployed]
SKIPPED = "kafka_connect_task_error_metrics_total_records_skipped"


@pytest.fixture
def topic(topic_name: Callable[[str], str]) -> str:
    return topic_name("refused")


@pytest.fixture
def letters(topic_name: Callable[[str], str]) -> str:
    return topic_name("letters")


def tolerating(letters: str) -> dict[str, str]:
    queue = "errors.deadletterqueue."
    config = {"errors.tolerance": "all", queue + "topic.name": letters, queue + "topic.replication.factor": "1"}
    return config | {queue + "context.headers.enable": "true"}


def headers_of(cluster: Cluster, letters: str) -> dict[str, bytes | None]:
    (letter,) = records_of(cluster, letters, 1)
    return {name.removeprefix("__connect.errors."): value for name, value in letter.headers}


def test_what_a_transform_in_java_refuses_is_a_dead_letter_that_can_be_replayed(
    connector: Create, cluster: Cluster, topic: str, letters: str
):
    fails = {"transforms.loud.fail": "1", "transforms.loud.secret": "hunter2hunter2"}
    source = connector(COUNTING, topic=topic, records="3", **LOUD, **fails, **tolerating(letters))
    assert [json.loads(r.value or b"")["n"] for r in records_of(cluster, topic, 2)] == [0, 2]
    headers = headers_of(cluster, letters)
    assert (headers["stage"], headers["class.name"]) == (b"TRANSFORMATION", SHOUT.encode())
    assert headers["exception.message"] == b"no luck with 1 [hidden]"
    await_sample(source, SKIPPED, 1)
    source.configure({"transforms.loud.fail": None})
    replay = source.worker.call("POST", f"/headrace/dead-letters/{letters}/replay", {"letters": ["0:0"]})
    assert replay["letters"][0]["outcome"] == "replayed"
    wait_until(lambda: cluster.size(topic) >= 3, CONNECTOR_S, "the replayed record")
    assert json.loads(cluster.read(topic, settled=True)[-1].value or b"") == {"n": 1, "word": "ODD"}


def test_what_a_transform_in_java_refuses_before_one_of_headraces_own_is_counted_without_dead_letters(
    connector: Create, cluster: Cluster, topic: str
):
    chain = {**OWN, **LOUD, "transforms": "loud,own", "transforms.loud.fail": "1", "errors.tolerance": "all"}
    source = connector(COUNTING, topic=topic, records="3", **chain)
    assert [json.loads(r.value or b"")["n"] for r in records_of(cluster, topic, 2)] == [0, 2]
    await_sample(source, SKIPPED, 1)


def test_a_header_that_its_converter_refuses_is_a_dead_letter_with_the_others(
    connector: Create, cluster: Cluster, topic: str, letters: str
):
    refuses = {"header.converter": LABEL, "header.converter.refuse": "1"}
    source = connector(COUNTING, topic=topic, records="3", **refuses, **tolerating(letters))
    assert [json.loads(r.value or b"")["n"] for r in records_of(cluster, topic, 2)] == [0, 2]
    headers = headers_of(cluster, letters)
    assert (headers["stage"], headers["exception.message"]) == (b"HEADER_CONVERTER", b"no luck with header 1")
    assert headers["exception.class.name"] == b"java.lang.IllegalStateException"
    await_sample(source, SKIPPED, 1)


def test_a_header_that_its_converter_refuses_ends_the_task_where_errors_are_not_tolerated(connector: Create, topic: str):
    refuses = {"header.converter": LABEL, "header.converter.refuse": "1", **OWN}
    assert "no luck with header 1" in connector(COUNTING, topic=topic, records="3", **refuses).trace()
