"""`/connector-plugins` of a worker with a `plugin.path`: what the plugins say themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.java.polled_task import JavaPolledTask
from headrace.errors import ConnectError, RestError
from headrace.testing.worker import EmbeddedWorker
from tests.deployed import Deployed
from tests.java_plugins.archives import COUNTING, NEEDY, THROWING_CONFIG


def validate(worker: EmbeddedWorker, **settings: str) -> dict[str, Any]:
    config = {"name": "c", "connector.class": COUNTING, **{name.replace("_", "."): value for name, value in settings.items()}}
    return worker.call("PUT", f"/connector-plugins/{config['connector.class']}/config/validate", config)


def errors(answer: dict[str, Any]) -> dict[str, list[str]]:
    return {c["value"]["name"]: c["value"]["errors"] for c in answer["configs"] if c["value"] and c["value"]["errors"]}


def test_every_version_is_listed_and_headraces_own_classes_once(java_worker: EmbeddedWorker):
    listed = [(p["class"], p.get("version")) for p in java_worker.call("GET", "/connector-plugins")]
    assert [(name, version) for name, version in listed if name == COUNTING] == [(COUNTING, "1.0"), (COUNTING, "2.0-beta")]
    assert [name for name, _ in listed].count("org.apache.kafka.connect.file.FileStreamSourceConnector") == 1
    assert NEEDY not in [name for name, _ in listed]


def test_the_options_are_those_of_the_class(java_worker: EmbeddedWorker):
    options = {o["name"]: o for o in java_worker.call("GET", f"/connector-plugins/{COUNTING}/config")}
    assert options["records"] == {
        "name": "records", "type": "INT", "required": False, "default_value": "10", "importance": "HIGH",
        "documentation": "How many.", "group": None, "order_in_group": -1, "width": "NONE", "display_name": "records",
        "dependents": [],
    }  # fmt: skip
    assert "tasks.max" in options


def test_a_version_that_is_not_there_is_refused_with_those_that_are(java_worker: EmbeddedWorker):
    with pytest.raises(RestError, match=r"version range \[3,3\], available versions: \[1\.0, 2\.0-beta\]"):
        java_worker.call("GET", f"/connector-plugins/{COUNTING}/config?version=3")
    answer = validate(java_worker, topic="t", connector_plugin_version="[3,)")
    assert "connector.plugin.version" in errors(answer)


def test_the_class_checks_its_options_itself(java_worker: EmbeddedWorker):
    answer = validate(java_worker, records="-1", secret="hunter2")
    found = errors(answer)
    assert found["records"] == ["Invalid value -1 for configuration records: Value must be at least 0"]
    assert found["topic"][0] == 'Missing required configuration "topic" which has no default value.'
    assert answer["error_count"] == sum(map(len, found.values()))
    assert "hunter2" not in str(answer)


def test_what_a_class_throws_in_its_check_is_answered(java_worker: EmbeddedWorker):
    with pytest.raises(RestError, match=r"500: java\.lang\.IllegalStateException: no luck in validate with \[hidden\]$"):
        validate(java_worker, topic="t", fail="validate", secret="hunter2hunter2")


def test_what_a_class_throws_when_it_is_asked_is_answered(java_worker: EmbeddedWorker):
    with pytest.raises(RestError, match=r"java\.lang\.IllegalStateException: no luck in config"):
        validate(java_worker, connector_class=THROWING_CONFIG, topic="t", fail="config")
    answer = validate(java_worker, topic="t", fail="exactlyOnceSupport", exactly_once_support="required", secret="hunter2")
    assert errors(answer)["exactly.once.support"][-1] == (
        "An unexpected error occurred during validation: no luck in exactlyOnceSupport with [hidden]"
    )


def test_headraces_own_class_goes_before_that_of_the_path_unless_it_is_asked_for(java_worker: EmbeddedWorker):
    name = "org.apache.kafka.connect.file.FileStreamSourceConnector"
    options = validate(java_worker, connector_class=name, file="/f", topic="t")["configs"]
    assert "connector.engine" not in [o["definition"]["name"] for o in options if o["definition"]]
    options = validate(java_worker, connector_class=name, file="/f", topic="t", connector_engine="java")["configs"]
    assert "connector.engine" in [o["definition"]["name"] for o in options if o["definition"]]


def test_an_invalid_configuration_creates_nothing(connector: Callable[..., Deployed]):
    with pytest.raises(RestError, match='Missing required configuration "topic"'):
        connector(COUNTING)


def test_a_sink_in_java_says_what_it_thinks_of_its_options(java_worker: EmbeddedWorker):
    name = "org.apache.kafka.connect.tools.MockSinkConnector"
    assert not errors(validate(java_worker, connector_class=name, topics="t"))


def test_mirror_source_in_java_says_where_it_cannot_work():
    class Mirror:
        plugin_name = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
        host = None

    task = JavaPolledTask.of(Mirror)(TaskContext("c", 0))
    with pytest.raises(ConnectError, match=r"which is not known where Spark writes.* Use headrace's own class of this name"):
        task.start({})


MYSQL = {
    "connector_class": "io.debezium.connector.mysql.MySqlConnector", "database.hostname": "127.0.0.1", "database.port": "1",
    "database.user": "u", "database.server.id": "1", "database.password": "hunter2",
    "schema.history.internal.kafka.topic": "h", "schema.history.internal.kafka.bootstrap.servers": "b:1",
}  # fmt: skip
MONGODB = {
    "connector_class": "io.debezium.connector.mongodb.MongoDbConnector",
    "mongodb.connection.string": "mongodb://u:hunter2@127.0.0.1:1/?serverSelectionTimeoutMS=200",
}


@pytest.mark.parametrize(
    ("config", "option", "why"),
    [
        (MYSQL, "database.hostname", "Error during connection validation: io.debezium.DebeziumException"),
        (MONGODB, "mongodb.connection.string", "Unable to connect: Timed out"),
    ],
    ids=["mysql", "mongodb"],
)
def test_debeziums_connectors_say_what_they_need_and_that_there_is_no_server(
    java_worker: EmbeddedWorker, config: dict[str, str], option: str, why: str
):
    empty = errors(validate(java_worker, connector_class=config["connector_class"]))
    assert empty["topic.prefix"] == ["The 'topic.prefix' value is invalid: A value is required"]
    assert option in empty
    found = errors(validate(java_worker, **config, topic_prefix="p"))
    assert [first.startswith(why) for first in found[option]] == [True]
    assert "hunter2" not in str(found)
