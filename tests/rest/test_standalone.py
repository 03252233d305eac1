"""REST over the real herder of a standalone worker, whose connectors are all stopped: neither Kafka nor Spark is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headrace.cluster.herder import Herder
from headrace.cluster.offsets import await_end_of_tasks
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.cluster.stores import WorkerStores
from headrace.connect_config import validation
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.errors import ConnectError
from headrace.rest import RestServer
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from tests.rest.conftest import Client
from tests.support import wait_until

SOURCE = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
SINK = {"connector.class": "FileStreamSink", "file": "/data/out.txt", "topics": "t"}
CONVERTER = "org.apache.kafka.connect.storage.StringConverter"


def no_spark() -> None:
    raise AssertionError("a stopped connector needs no Spark")


@pytest.fixture
def config(tmp_path: Path) -> StandaloneConfig:
    props = {"key.converter": CONVERTER, "value.converter": CONVERTER, "listeners": "http://localhost:0"}
    props |= {
        "task.shutdown.graceful.timeout.ms": "0",
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
    }
    return StandaloneConfig({**props, "offset.storage.file.filename": str(tmp_path / "offsets")})


@pytest.fixture
def stores(config: StandaloneConfig) -> WorkerStores:
    return memory_stores(config.offset_file)


@pytest.fixture
def call(config: StandaloneConfig, stores: WorkerStores) -> Iterator[Client]:
    worker = Worker(config, stores.offsets, stores.status, no_spark, StandaloneGroup().session)  # type: ignore[arg-type]
    stores.start()
    herder = Herder(worker, stores, "localhost:8083", "cluster", StandaloneGroup())
    server = RestServer(herder, config)
    server.start()
    herder.start()
    yield Client(server.urls[0])
    herder.shut_down()
    server.stop()
    stores.stop()


@pytest.fixture
def stopped(call: Client) -> str:
    """The name of a connector that was created STOPPED."""
    created = call("POST", "/connectors", {"name": "s", "config": SOURCE, "initial_state": "STOPPED"})
    assert created.status == 201
    wait_until(lambda: call("GET", "/connectors/s/status").status == 200, 120, "a status")
    return "s"


def test_a_connector_can_be_created_stopped(call: Client, stopped: str) -> None:
    body = {"name": "s", "config": {**SOURCE, "name": "s"}, "tasks": [], "type": "source"}
    assert call("GET", "/connectors/s").json == body
    assert call("GET", "/connectors/s/status").json["connector"]["state"] == "STOPPED"
    assert call("GET", "/connectors?expand=info").json == {"s": {"info": body}}


def test_the_same_name_is_taken_and_a_bad_configuration_refused(call: Client, stopped: str) -> None:
    assert call("POST", "/connectors", {"name": "s", "config": SOURCE}).message == "Connector s already exists"
    refused = call("POST", "/connectors", {"name": "x", "config": {"connector.class": "FileStreamSource"}})
    assert (refused.status, refused.message.splitlines()[1]) == (
        400, 'Missing required configuration "topic" which has no default value.',
    )  # fmt: skip


def test_a_configuration_is_patched_and_replaced(call: Client, stopped: str) -> None:
    assert call("PATCH", "/connectors/s/config", {"topic": "u", "file": None}).status == 200
    assert call("GET", "/connectors/s/config").json == {"connector.class": "FileStreamSource", "topic": "u", "name": "s"}
    assert call("PUT", "/connectors/s/config", SOURCE).status == 200
    assert call("GET", "/connectors/s/config").json == {**SOURCE, "name": "s"}


def test_a_patch_removes_the_nulls_that_it_names_alone(call: Client, stopped: str) -> None:
    assert call("PUT", "/connectors/s/config", {**SOURCE, "topic": None, "batch.size": None}).status == 200
    patched = call("PATCH", "/connectors/s/config", {"added": "1", "batch.size": None})
    assert (patched.status, patched.json.get("config")) == (200, {**SOURCE, "topic": None, "added": "1", "name": "s"})


def test_a_bad_configuration_is_refused_by_the_worker_that_is_asked_before_it_looks_for_the_leader(
    call: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StandaloneGroup, "leads", lambda _group: False)
    for config, status in (({"connector.class": "FileStreamSource"}, 400), (SOURCE, 409)):
        assert call("POST", "/connectors?forward=false", {"name": "x", "config": config}).status == status
        assert call("PUT", "/connectors/x/config?forward=false", config).status == status
        assert call("PATCH", "/connectors/x/config?forward=false", config).status == 409


def test_a_patch_is_of_the_configuration_that_was_checked(call: Client, stopped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Mapping[str, object]] = []
    check = validation.check

    def meanwhile(config: Mapping[str, str | None], worker: StandaloneConfig) -> None:
        checked.append(config)
        if len(checked) == 1:  # on the thread of another request
            assert call("PUT", "/connectors/s/config", {**SOURCE, "topic": "u"}).status == 200
        check(config, worker)

    monkeypatch.setattr(validation, "check", meanwhile)
    config = {**SOURCE, "topic": "u", "added": "1", "name": "s"}
    assert call("PATCH", "/connectors/s/config", {"added": "1"}).json["config"] == config
    assert [one["topic"] for one in checked] == ["t", "u", "u"]


def test_offsets_of_a_stopped_connector_are_altered_and_reset(call: Client, stopped: str) -> None:
    offsets = [{"partition": {"filename": "/data/in.txt"}, "offset": {"position": 7}}]
    assert call("PATCH", "/connectors/s/offsets", {"offsets": offsets}).status == 200
    assert call("GET", "/connectors/s/offsets").json == {"offsets": offsets}
    assert call("DELETE", "/connectors/s/offsets").status == 200
    assert call("GET", "/connectors/s/offsets").json == {"offsets": []}


@pytest.mark.parametrize(("connector", "what"), [(SOURCE, "source"), (SINK, "consumer group")])
def test_offsets_are_left_alone_until_the_tasks_have_ended(
    call: Client, stores: WorkerStores, connector: dict[str, str], what: str
) -> None:
    created = call("POST", "/connectors", {"name": "s", "config": connector, "initial_state": "STOPPED"})
    assert created.status == 201
    status = {"state": "RUNNING", "trace": None, "worker_id": "away:1", "generation": 0, "version": None}
    stores.status.put_task_status("s", 0, status)  # on a worker that has not read of the stop yet
    sink_offset = {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 1}}
    for action, answer in (
        ("alter", call("PATCH", "/connectors/s/offsets", {"offsets": [sink_offset]})),
        ("reset", call("DELETE", "/connectors/s/offsets")),
    ):
        sentence = f"Failed to {action} {what} offsets for connector s either because its tasks haven't stopped completely yet"
        assert (answer.status, answer.message.startswith(sentence)) == (500, True)


def test_a_request_about_offsets_waits_for_the_end_of_tasks_and_is_refused_after_a_resume(
    call: Client, stores: WorkerStores
) -> None:
    call("POST", "/connectors", {"name": "s", "config": SOURCE, "initial_state": "STOPPED"})
    status = {"state": "RUNNING", "trace": None, "worker_id": "away:1", "generation": 0, "version": None}
    stores.status.put_task_status("s", 0, status)
    waiting = threading.Thread(target=await_end_of_tasks, args=("alter", "s", "source", stores, 600), daemon=True)
    waiting.start()
    stores.status.delete_task_status("s", 0)
    waiting.join(600)
    assert not waiting.is_alive()
    stores.config.put_target_state("PAUSED", "s")  # by any worker
    with pytest.raises(ConnectError, match="or the connector was resumed before the request to alter its offsets"):
        await_end_of_tasks("alter", "s", "source", stores, 600)


def test_other_connectors_change_while_the_offsets_of_one_do(call: Client, stopped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    altering, go_on = threading.Event(), threading.Event()

    def alter(_config: object, _changes: object) -> bool:
        altering.set()
        return go_on.wait(600)

    monkeypatch.setattr(FileStreamSourceConnector, "alter_offsets", alter)
    change = {"partition": {"filename": "/data/in.txt"}, "offset": {"position": 7}}
    with ThreadPoolExecutor() as pool:
        altered = pool.submit(call, "PATCH", "/connectors/s/offsets", {"offsets": [change]})
        try:
            assert altering.wait(600)
            other = {"name": "other", "config": SOURCE, "initial_state": "STOPPED"}
            assert pool.submit(call, "POST", "/connectors", other).result(60).status == 201
            resumed = pool.submit(call, "PUT", "/connectors/s/resume")
            with pytest.raises(TimeoutError):  # its tasks are to begin at the new offsets
                resumed.result(0.3)
        finally:
            go_on.set()
    assert (altered.result().status, resumed.result().status) == (200, 202)


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        ({"filename": "a"}, {"position": "7"}, "The value for the 'position' key in the offset is expected to be a Long value"),
        ({"x": 1}, {"y": 2}, "Offset objects should either be null or contain the key 'position'"),
        (None, {}, "Offset objects should either be null or contain the key 'position'"),
        (None, {"position": 7}, "Partition objects cannot be null"),
        (None, None, "Partition objects cannot be null"),
        ({"x": 1}, {"position": 7}, "Partition objects should contain the key 'filename'"),
        ({"x": {"b": 1}}, {"position": 7}, "Offsets may only contain primitive types as values, but field x contains MAP"),
        ({"filename": "a"}, {"position": 2**63},
         "Offsets may only contain primitive types as values, but field position contains class java.math.BigInteger"),
    ],
)  # fmt: skip
def test_offsets_that_the_connector_cannot_read_are_refused(
    call: Client, stopped: str, partition: object, offset: object, message: str
) -> None:
    answer = call("PATCH", "/connectors/s/offsets", {"offsets": [{"partition": partition, "offset": offset}]})
    assert (answer.status, answer.message) == (500, message)


def test_the_standard_input_has_no_offsets(call: Client, stopped: str) -> None:
    assert call("PUT", "/connectors/s/config", {**SOURCE, "file": " "}).status == 200
    answer = call("PATCH", "/connectors/s/offsets", {"offsets": [{"partition": {"filename": ""}, "offset": None}]})
    assert (answer.status, answer.message[:39]) == (500, "Offsets cannot be modified if the 'file")


def test_what_has_placeholders_that_cannot_be_resolved_is_no_mistake_of_the_request(
    call: Client, stopped: str, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("file=a")
    assert call("PUT", "/connectors/s/config", {**SOURCE, "file": f"${{file:{secrets}:file}}"}).status == 200
    secrets.unlink()
    offsets = {"offsets": [{"partition": {"filename": "a"}, "offset": {"position": 1}}]}
    calls = [("POST", "/restart", None), ("GET", "/offsets", None), ("PATCH", "/offsets", offsets), ("DELETE", "/offsets", None)]
    answers = [call(method, f"/connectors/{stopped}{path}", body) for method, path, body in calls]
    message = f"Could not read properties from file {secrets}"
    assert [(answer.status, answer.message) for answer in answers] == [(500, message)] * 4


def test_a_task_that_is_no_longer_there_is_in_conflict_until_it_has_ended(
    call: Client, stopped: str, stores: WorkerStores
) -> None:
    running = {"state": "RUNNING", "trace": None, "worker_id": "other:8083", "generation": 1, "version": "1"}
    stores.status.put_task_status(stopped, 0, running)  # its worker is still ending it
    answer = call("POST", "/connectors/s/tasks/0/restart")
    assert (answer.status, answer.message[:66]) == (
        409, "Cannot complete request momentarily due to stale configuration (ty",
    )  # fmt: skip
    stores.status.delete_task_status(stopped, 0)
    answer = call("POST", "/connectors/s/tasks/0/restart")
    assert (answer.status, answer.message) == (404, "Unknown task: s-0")


def test_a_task_that_was_removed_is_with_no_worker_of_the_group(
    call: Client, stopped: str, stores: WorkerStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores.config.put_task_configs((stopped, [{"task.class": "T"}]))
    wait_until(lambda: not call("GET", "/connectors/s/tasks").json, 120, "no task of a stopped connector")
    wait_until(lambda: call("POST", "/connectors/s/tasks/0/restart").status == 404, 120, "a worker that is alone forgets it")
    monkeypatch.setattr(StandaloneConfig, "worker_group", "g")
    answer = call("POST", "/connectors/s/tasks/0/restart")
    assert (answer.status, answer.message) == (
        409, "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.",
    )  # fmt: skip
    assert call("POST", "/connectors/s/tasks/1/restart").message == "Unknown task: s-1"


def test_a_restart_of_a_connector_without_a_status_is_written_nevertheless(
    call: Client, stopped: str, stores: WorkerStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(stores.status), "connector", lambda *_: None)  # as just after its creation
    answer = call("POST", "/connectors/s/restart?includeTasks=true")
    assert (answer.status, answer.message) == (404, "Status for connector s not found")
    assert stores.config.snapshot().restart_requests["s"].include_tasks


def test_a_connector_whose_chain_cannot_be_read_is_failed_and_has_no_tasks(call: Client) -> None:
    chain = {"transforms": "a", "transforms.a.type": " RegexRouter"}  # white space: Kafka Connect finds it only when it validates
    assert call("POST", "/connectors", {"name": "c", "config": {**SOURCE, **chain}}).status == 201
    wait_until(lambda: call("GET", "/connectors/c/status").status == 200, 120, "a status")
    status = call("GET", "/connectors/c/status").json
    assert (status["connector"]["state"], status["tasks"]) == ("FAILED", [])
    assert "Error getting config definition from Transformation:  RegexRouter" in status["connector"]["trace"]


def test_a_restart_says_so_when_the_connector_cannot_be_started(call: Client) -> None:
    one_setting = {**SOURCE, "topic.creation.default.partitions": "1"}  # without the other one that is required
    assert call("POST", "/connectors", {"name": "f", "config": one_setting}).status == 201
    answer = call("POST", "/connectors/f/restart")
    assert (answer.status, answer.message) == (500, "Failed to start connector: f")
    assert call("GET", "/connectors/f/status").json["connector"]["state"] == "FAILED"
    assert call("POST", "/connectors/f/restart?includeTasks=true").status == 202


def test_a_restart_says_so_when_the_task_cannot_be_started(call: Client, tmp_path: Path) -> None:
    (secrets := tmp_path / "secrets").write_text("enable=true")
    converter = {"value.converter": "JsonConverter", "value.converter.schemas.enable": f"${{file:{secrets}:enable}}"}
    assert call("POST", "/connectors", {"name": "t", "config": SOURCE | converter}).status == 201
    wait_until(lambda: call("GET", "/connectors/t/status").json.get("tasks"), 120, "a task")  # at first there is no status
    secrets.write_text("enable=perhaps")
    answer = call("POST", "/connectors/t/tasks/0/restart")
    assert (answer.status, answer.message) == (500, "Failed to start task: t-0")
    assert "perhaps" not in call("GET", "/connectors/t/status").json["tasks"][0]["trace"], "a value is shown nowhere"


def test_a_deleted_connector_is_gone(call: Client, stopped: str) -> None:
    assert call("DELETE", "/connectors/s").status == 204
    assert call("GET", "/connectors").json == []
    wait_until(lambda: call("GET", "/connectors/s/status").status == 404, 120, "no status any more")


def test_plugins_show_their_options_and_versions(call: Client) -> None:
    names = [option["name"] for option in call("GET", "/connector-plugins/FileStreamSource/config").json]
    assert {"file", "topic", "batch.size", "name", "connector.class"} <= set(names)
    assert call("GET", "/connector-plugins/FileStreamSource/config?version=99").status == 400
    assert call("GET", "/connector-plugins/FileStreamSource/config?version=latest").status == 200
    answer = call("GET", "/connector-plugins/NoSuch/config?version=%5B1.0")  # [1.0
    assert (answer.status, answer.message) == (400, "Invalid version specification: [1.0")
    assert call("GET", "/connector-plugins/NoSuch/config").message == "Unknown plugin NoSuch."
    message = call("GET", "/connector-plugins/Principal/config").message
    assert message.startswith("Invalid plugin class Principal. Valid types are sink, source, ")


@pytest.mark.parametrize(("name", "status", "sentence"), [
    ("java.lang.Object", 500, "Instantiation error"),
    ("org.apache.kafka.connect.transforms.Transformation", 500, "Instantiation error"),
    ("org.apache.kafka.connect.sink.SinkTask", 500, "Instantiation error"),
    ("org.apache.kafka.connect.file.FileStreamSourceTask", 400, "Invalid plugin class {}. Valid types are sink, source, "),
    ("java.lang.NoSuch", 404, "Unknown plugin {}."),
])  # fmt: skip
def test_a_class_that_is_no_plugin_has_no_options(call: Client, name: str, status: int, sentence: str) -> None:
    answer = call("GET", f"/connector-plugins/{name}/config")
    assert (answer.status, answer.message.startswith(sentence.format(name))) == (status, True)
    versioned = call("GET", f"/connector-plugins/{name}/config?version=9")
    assert (versioned.status == 404) == (status == 404)
    assert status == 404 or versioned.message == (
        f"Plugin {name} is not part of Connect's plugin loading mechanism (ClassPath or Plugin Path)"
    )


def test_the_version_of_a_plugin_without_options_is_checked_first(call: Client) -> None:
    for name, full, version in (
        ("FileConfigProvider", "org.apache.kafka.common.config.provider.FileConfigProvider", "undefined"),
        ("All", "org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy", "4.3.0"),
    ):
        assert call("GET", f"/connector-plugins/{name}/config?version=9").message == (
            f"Plugin {full} not found that matches the version range [9,9], available versions: [{version}]"
        )
        assert call("GET", f"/connector-plugins/{name}/config?version={version}").message.startswith("Invalid plugin class")


def test_a_validation_changes_nothing(call: Client) -> None:
    answer = call("PUT", "/connector-plugins/FileStreamSource/config/validate", {**SOURCE, "topic": "", "name": "v"})
    assert (answer.status, answer.json["error_count"]) == (200, 1)
    assert call("GET", "/connectors").json == []
