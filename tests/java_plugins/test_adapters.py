"""Plugins in Java that are asked in a process of their own: without a worker, a broker and Spark."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace import plugins
from headrace.background import in_background
from headrace.config.providers import Resolver
from headrace.connect_config import validation
from headrace.connectors.base import ConnectorContext, TaskContext
from headrace.connectors.hosted import Conversion, HostedClients
from headrace.connectors.java.connector import JavaConnector
from headrace.connectors.java.kafka_task import JavaTask
from headrace.errors import BadRequestError, ConnectError, RetriableError
from headrace.jvm import output
from headrace.rest.routes import loggers
from headrace.runtime import java_plugins
from headrace.runtime.hosted import _WITH_SCHEMAS
from headrace.runtime.plan import converters
from headrace.spark import connect_host
from headrace.spark.connect_host import HostListener, PluginError
from headrace.spark.host_process import ProcessHost, ProcessSettings
from headrace.transforms.stages import stages
from tests.java_plugins.archives import COUNTING, DEFAULTED, SOURCE, archive, compiled
from tests.java_plugins.rows import rows
from tests.support import wait_until

pytestmark = pytest.mark.slow
PICKY, CONVERTER = "org.example.Picky", "connect.storage.Converter"
GROUPED, TRANSFORMATION = "org.example.Grouped", "connect.transforms.Transformation"
HERE, HANGING, WAITING = "org.example.Here", "org.example.Reticent$Hanging", "org.example.Reticent$Waiting"
COUNTING_TASK = "org.example.CountingSourceTask"
PREDICATE = "connect.transforms.predicates.Predicate"
PLAIN: Any = {"class": "org.apache.kafka.connect.storage.StringConverter", "location": None, "props": {}}
RETICENT = [f"org.example.Reticent${name}" for name in ("Null", "Throwing", "Checking")]
WORKER: Any = SimpleNamespace(
    key_converter="org.apache.kafka.connect.json.JsonConverter",
    value_converter="org.apache.kafka.connect.json.JsonConverter",
    header_converter="org.apache.kafka.connect.storage.SimpleHeaderConverter",
    override_policy="All",
    override_allowlist=[],
    worker_group=None,
    exactly_once_enabled=False,
    topic_creation_enable=True,
    resolver=Resolver(),
)


@pytest.fixture(scope="module", autouse=True)
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessHost]:
    """The process that is asked."""
    directory = tmp_path_factory.mktemp("plugins")
    classes, path = compiled(directory / "classes"), directory / "path"
    archive(
        path / "first" / "plugins.jar",
        classes,
        "1.0",
        {SOURCE: f"{COUNTING}\n{PICKY}\n{DEFAULTED}", CONVERTER: "\n".join(RETICENT), TRANSFORMATION: GROUPED},
    )
    archive(path / "second" / "plugins.jar", classes, "2.0", {PREDICATE: HERE, TRANSFORMATION: GROUPED, CONVERTER: RETICENT[0]})
    before = plugins.java_plugins()
    java_plugins.install(
        {"plugin.path": str(path), "plugin.discovery": "service_load", "offset.flush.interval.ms": "50"},
        lambda: pytest.fail("no Spark"),
    )
    process = ProcessHost(ProcessSettings("tests", "256m"), plugins.java_plugins()[0].host)
    process.users = 1_000  # it does not end with one of them
    for cls in plugins.java_plugins():
        cls.host = process
    yield process
    process.users = 0
    process.end()
    plugins.set_java_plugins(before)


def validated(**settings: str) -> dict[str, Any]:
    """The answer of a validation; `__` stands for a dot."""
    return validation.validate(None, configuration(**settings), WORKER)


def configuration(**settings: str) -> dict[str, str]:
    settings = {"connector__class": PICKY, "topic": "t", **settings}
    return {"name": "c", **{name.replace("__", "."): text for name, text in settings.items()}}


def value(body: dict[str, Any], option: str) -> dict[str, Any]:
    (found,) = (config["value"] for config in body["configs"] if config["value"] and config["value"]["name"] == option)
    return found


def test_a_list_has_the_values_that_its_class_recommends() -> None:
    assert value(validated(tables="a"), "tables") == {
        "name": "tables",
        "value": "a",
        "recommended_values": ["a", "b"],
        "errors": [],
        "visible": False,
    }


def test_a_validation_that_answers_nothing_is_a_bad_request() -> None:
    sentence = rf"{PICKY}\.validate\(\) must return a Config that is not null\."
    with pytest.raises(BadRequestError, match=f"^{sentence}$"):
        validation.check(configuration(validate="nothing"), WORKER)
    with pytest.raises(ConnectError, match=f"^org.apache.kafka.connect.runtime.rest.errors.BadRequestException: {sentence}$"):
        validated(validate="nothing")


def test_the_options_of_a_transform_keep_their_group_and_recommended_values() -> None:
    body = validated(transforms="o", transforms__o__type=GROUPED)
    groups = {c["definition"]["name"]: c["definition"]["group"] for c in body["configs"] if c["definition"]}
    assert (groups["transforms.o.table"], groups["transforms.o.drop"]) == ("Transforms: o: Table", "Transforms: o")
    assert "Transforms: o: Table" in body["groups"]
    shown = value(body, "transforms.o.table")
    assert (shown["recommended_values"], shown["visible"]) == (["a", "b"], False)


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        (RETICENT[0], []),
        (RETICENT[1], ["Failed to load ConfigDef from value converter: no luck in config"]),
        (RETICENT[2], ["Failed to perform config validation for value converter"]),
    ],
)
def test_a_converter_that_does_not_say_its_options_has_its_error_at_its_key(name: str, errors: list[str]) -> None:
    body = validated(value__converter=name, value__converter__checked="x")
    assert (value(body, "value.converter")["errors"], body["error_count"]) == (errors, len(errors))
    assert plugins.find(name).passwords({"stamp": "x", "some.password": "hunter2"}) == ["hunter2"]


def test_of_several_versions_the_one_that_is_packaged_with_the_connector_goes_before_newer_ones() -> None:
    chain = {"transforms": "o", "transforms__o__type": GROUPED}
    config = configuration(**chain, value__converter=RETICENT[0])
    defaults = {f"{part}.converter": getattr(WORKER, f"{part}_converter") for part in ("key", "value", "header")}
    (stage,) = stages(config)
    of_config: Any = converters(config, SimpleNamespace(originals=defaults))  # type: ignore[arg-type]
    assert (type(stage.transformation).version, of_config.value.version) == ("1.0", "1.0")
    (stage,) = stages(config | {"transforms.o.plugin.version": "[2.0,)"})
    assert type(stage.transformation).version == "2.0"
    body = validated(**chain, value__converter=RETICENT[0])
    assert [value(body, f"{what}.plugin.version")["value"] for what in ("transforms.o", "value.converter")] == ["1.0", "1.0"]
    body = validated(connector__class="FileStreamSource", file="f", **chain)
    assert value(body, "transforms.o.plugin.version")["value"] == "2.0"
    of_worker: Any = converters(configuration(), SimpleNamespace(originals={**defaults, "value.converter": RETICENT[0]}))  # type: ignore[arg-type]
    assert of_worker.value.version == "2.0"


@pytest.mark.parametrize("name", ["JsonConverter", "CountingSource"])
def test_an_option_may_name_a_class_by_its_alias(name: str) -> None:
    assert value(validated(delegate=name), "delegate")["errors"] == []


@pytest.fixture
def started() -> Callable[..., JavaConnector]:
    """Starts a connector."""

    def start(**settings: str) -> JavaConnector:
        config = configuration(**settings)
        instance = plugins.find(config["connector.class"])(
            ConnectorContext("c", lambda: None, lambda error: pytest.fail(str(error)))
        )
        instance.start(config)
        return instance

    return start


def test_the_tasks_of_a_source_get_its_topics(started: Callable[..., JavaConnector]) -> None:
    source = started(topics="a,b")
    assert source.task_configs(1) == [{"own": "yes", "topics": "a,b"}]
    source.stop()


def test_what_a_connector_throws_when_it_stops_is_raised(started: Callable[..., JavaConnector]) -> None:
    source = started(fail="connector.stop")
    with pytest.raises(PluginError, match=r"no luck in connector\.stop"):
        source.stop()


@pytest.mark.parametrize(
    ("settings", "offset", "sentence"),
    [
        ({"fail": "alterOffsets", "secret": "hunter2"}, {"at": 1}, "Failed to modify offsets for source connector c"),
        (
            {"alter": "never"},
            {"at": 1},
            "Failed to modify offsets for connector c because it doesn't support external modification of offsets",
        ),
        ({}, {"at": "x"}, "Offsets have a whole number 'at'"),
    ],
)
def test_why_offsets_cannot_be_altered_is_said_as_by_kafka_connect(
    settings: Any, offset: Any, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConnectError, match=f"^{sentence}$"):
        plugins.find(PICKY).alter_offsets(configuration(**settings), [({"counter": "0"}, offset)])
    assert ("no luck in alterOffsets with [hidden]" in caplog.text) == ("fail" in settings)


def test_metrics_may_be_no_number_and_one_that_throws_hides_no_other(
    started: Callable[..., JavaConnector], host: ProcessHost
) -> None:
    source = started()
    shown = {metric["name"]: metric["value"] for metric in host.metrics()}
    assert (math.isnan(shown["average"]), shown["tables"], "broken" in shown) == (True, 2.0, False)
    source.stop()


def test_a_connector_that_is_left_behind_leaves_the_names_of_its_metrics_to_the_next(
    started: Callable[..., JavaConnector], host: ProcessHost, tmp_path: Path
) -> None:
    started(hang="connector.stop", until=str(tmp_path / "end")).stop()
    source = started()
    (tmp_path / "end").touch()
    wait_until(lambda: all(thread.name != "plugin-c" for thread in threading.enumerate()), 180, "the first has stopped")
    time.sleep(connect_host._CACHE_S)
    assert {"average", "tables"} <= {metric["name"] for metric in host.metrics()}
    source.stop()


def test_what_a_plugin_prints_is_in_its_log_and_need_not_be_utf8(
    started: Callable[..., JavaConnector], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", output.__name__)  # as a worker has it
    source = started()
    await_prints(caplog, 1)
    source.stop()
    assert "\N{REPLACEMENT CHARACTER} printed connector=c plugin_logger=stdout" in caplog.text


def await_prints(caplog: pytest.LogCaptureFixture, starts: int) -> None:
    """Wait for what a connector has printed at so many starts."""
    wait_until(lambda: caplog.text.count(" printed") >= starts, 180, lambda: caplog.text)


def test_a_task_whose_converter_does_not_return_can_be_stopped(host: ProcessHost, monkeypatch: pytest.MonkeyPatch) -> None:
    connector = plugins.find(PICKY)
    monkeypatch.setattr(connector, "host_for_task", lambda _context, _heap: host)
    task = JavaTask.of(connector)(TaskContext("c", 0))
    hanging = {"class": HANGING, "location": connector.location, "props": {}}
    task.run_with(Conversion(hanging, hanging, PLAIN), HostedClients({}, {}, {}))
    started = in_background(lambda: task.start({"task.class": "org.example.CountingSourceTask"}), "starts")
    wait_until(lambda: task._started, 180, "the host makes the task")
    ended = in_background(lambda: task.end(1), "ends")
    ended.result(180)
    task.context.stopping.set()
    started.result(180)


def request(id: str, key: Any = PLAIN, **props: str) -> dict[str, Any]:
    """What makes a host start a task in Kafka Connect's own classes, without a broker: it has no records."""
    task = {"task.class": COUNTING_TASK, "topic": "t", "counter": "0", "records": "0", **props}
    settings = {"name": "c", "connector.class": PICKY}
    conversion = {"key": key, "value": PLAIN, "header": PLAIN, "stages": [], "secrets": [], "settings": settings}
    clients: dict[str, Any] = {"consumer": {}, "producer": {"bootstrap.servers": "localhost:1"}, "admin": {}}
    whose = {"id": id, "name": "c", "number": 0, "class": PICKY, "location": plugins.find(PICKY).location}
    return {**whose, "props": task, **conversion, **clients}


@pytest.fixture
def unread(host: ProcessHost) -> Iterator[Callable[[str], str]]:
    """Listens to tasks of these ids, for which nothing is stored."""
    ids: list[str] = []

    def listened(id: str) -> str:
        host.listen(
            id, HostListener(lambda: None, pytest.fail, lambda partitions: [None] * len(partitions), lambda _offsets: None)
        )
        ids.append(id)
        return id

    yield listened
    for id in ids:
        host.ask("hosted.stop", id=id, wait=5_000)
        host.forget(id)


def test_a_task_that_is_stopped_before_the_question_to_start_it_comes_does_not_start(
    host: ProcessHost, unread: Callable[[str], str]
) -> None:
    id = unread("o@0")  # an executor takes both at once, each on its own thread
    host.ask("hosted.stop", id=id, wait=0)
    host.ask("hosted.start", **request(id))
    with pytest.raises(PluginError, match="The task o@0 is not here"):
        host.ask("hosted.awaitStart", id=id, wait=1_000)


def test_a_task_that_is_left_behind_while_it_is_made_takes_no_commits_from_its_successor(
    host: ProcessHost, unread: Callable[[str], str], tmp_path: Path
) -> None:
    journal, may_go = tmp_path / "journal", tmp_path / "go"
    waiting = {"class": WAITING, "location": plugins.find(PICKY).location, "props": {"until": str(may_go)}}
    left, successor = unread("l@0"), unread("s@0")
    starts = in_background(lambda: host.ask("hosted.start", **request(left, waiting)), "left")
    wait_until((tmp_path / "go.begun").exists, 180, "its converter is made")
    host.ask("hosted.stop", id=left, wait=0)
    host.ask("hosted.start", **request(successor, journal=str(journal)))
    commits: Callable[[], int] = lambda: journal.exists() and journal.read_text().splitlines().count("commit")  # noqa: E731
    wait_until(lambda: commits() > 1, 180, "commits")
    may_go.touch()
    starts.result(180)
    before = commits()
    wait_until(lambda: commits() > before + 1, 180, "more commits")


def test_a_task_that_ends_by_itself_without_an_error_is_failed(host: ProcessHost, unread: Callable[[str], str]) -> None:
    id = unread("i@0")
    host.ask("hosted.start", **request(id, interrupt="yes"))
    with pytest.raises(PluginError, match="Task c-0 has ended by itself: it was interrupted"):
        for _ in range(10_000):
            host.ask("hosted.state", id=id, wait=10, idleWait=10, figures=[])


def test_the_state_of_a_task_has_those_metrics_that_are_asked_for(host: ProcessHost, unread: Callable[[str], str]) -> None:
    id = unread("m@0")
    host.ask("hosted.start", **request(id))
    state = host.ask("hosted.state", id=id, wait=0, idleWait=0, figures=["source-record-poll-total", "no-such-metric"])
    assert state["figures"] == {"source-record-poll-total": 0.0}


def start_task(host: ProcessHost, id: str, connector: str, task: str, stages: Any = (), data: Any = PLAIN, **props: str) -> None:
    """Start a task whose keys and values become bytes by `data`."""
    whose = {"id": id, "name": "c", "number": 0, "context": "", "class": connector, "location": plugins.find(connector).location}
    conversion = {"key": data, "value": data, "header": PLAIN, "stages": list(stages), "secrets": [], "retry": None}
    host.ask("task.start", **whose, props={"topic": "t", "task.class": task, **props}, **conversion, transactional=False)
    while not host.ask("task.awaitStart", id=id, wait=1_000):
        pass


def await_records(host: ProcessHost, id: str) -> Any:
    """The first range of records of a task."""
    while not (cut := host.ask("task.cut", id=id, most=10, travels=False, wait=1_000))["to"]:
        pass
    return cut


def test_a_predicate_is_tested_with_its_own_loader(host: ProcessHost) -> None:
    predicate, grouped = (plugins.find(name) for name in (HERE, GROUPED))
    stage = {"alias": "o", "class": GROUPED, "location": grouped.location, "props": {}, "predicate_alias": "p", "negate": False}
    stage["predicate"] = {"class": HERE, "location": predicate.location, "props": {}}
    host.listen("c@0", HostListener(lambda: None, pytest.fail, lambda partitions: [None] * len(partitions)))
    start_task(host, "c@0", PICKY, "org.example.CountingSourceTask", stages=[stage], counter="0", records="3")
    cut = await_records(host, "c@0")
    assert cut["to"] - cut["from"] == 3
    host.ask("task.stop", id="c@0", wait=0)
    host.forget("c@0")


def test_a_record_without_partition_keeps_null_and_has_the_defaults_of_required_fields(host: ProcessHost) -> None:
    start_task(host, "d@0", DEFAULTED, f"{DEFAULTED}$OneRecord", data=_WITH_SCHEMAS)
    cut = await_records(host, "d@0")
    (row,) = rows(host, "d@0", cut["from"], cut["to"])
    host.ask("task.stop", id="d@0", wait=0)
    assert row[6:] == ["null", "null", None]
    field = {"unset": 7}
    assert json.loads(row[3])["payload"] == {"null": None, "unset": 0, "in": field, "all": [field], "named": {"a": field}}


def test_who_asks_for_stored_offsets_waits_until_they_can_be_read(host: ProcessHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect_host, "_RETRY_S", 0.0)
    asked: list[Any] = []

    def offsets(partitions: Any) -> list[Any]:
        asked.append(partitions)
        if len(asked) == 1:
            raise RetriableError("Topic 'offsets' has a partition without a leader.")
        return [{"at": 7} for _ in partitions]

    host.listen("w@0", HostListener(lambda: None, pytest.fail, offsets))
    start_task(host, "w@0", COUNTING, "org.example.CountingSourceTask", counter="0")
    cut = await_records(host, "w@0")
    host.ask("task.stop", id="w@0", wait=0)
    host.forget("w@0")
    assert (cut["offsets"], len(asked) > 1) == ([['{"counter":"0"}', '{"at":10}']], True)


def test_levels_of_its_loggers_can_be_set_and_a_message_is_one_line(
    started: Callable[..., JavaConnector], caplog: pytest.LogCaptureFixture
) -> None:
    for starts, level in enumerate(("DEBUG", "WARN"), 1):
        loggers.apply("org.example", level)
        source = started(topic=f"level {level}")
        await_prints(caplog, starts)  # so what is logged before has come, too
        source.stop()
    messages = "\n".join(caplog.messages)  # the text may be PySpark's JSON, which escapes them once more
    assert "it starts\\nwith level DEBUG" in messages
    assert "level WARN" not in messages
