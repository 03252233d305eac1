"""OpenLineage's events of a worker's connectors, as its own client writes them to a file."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import ConfigError
from headrace.lineage import emitter as emitter_module
from headrace.lineage import runs
from headrace.lineage.emitter import ConnectorJobs, LineageEmitter, lineage_emitter
from headrace.rest.streams_reports import StreamsReports
from headrace.runtime.metrics.events import Batch
from headrace.runtime.worker_config import WorkerConfig
from tests.clusters import Cluster
from tests.lineage import spec
from tests.rest.conftest import worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_lineage import TOPOLOGY
from tests.rest.test_page import STREAMS
from tests.support import wait_until

SETTINGS = {
    "openlineage.integration.enabled": "true",
    "openlineage.integration.job.namespace": "prod",
    "bootstrap.servers": "kafka:9092",
}
MIRROR = {
    "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": "PLAINTEXT://far:9093,far2:9093",
    "source.sasl.jaas.config": "s3cret",
}  # fmt: skip


REPORTS = StreamsReports()  # nothing is ever reported


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is looked at more often than every two seconds; the end of the last events is waited for, however long."""
    monkeypatch.setattr(emitter_module, "_POLL_INTERVAL_S", 0.05)
    monkeypatch.setattr(emitter_module, "_STOP_S", 120.0)
    monkeypatch.setattr(runs, "RUNNING_INTERVAL_S", 3600)  # no event in between, however long a test takes


def started(
    herder: MemoryHerder,
    file: Path,
    reports: StreamsReports = REPORTS,
    more: dict[str, str] | None = None,
    transport: dict[str, Any] | None = None,
) -> LineageEmitter:
    config = file.with_suffix(".yml")
    config.write_text(json.dumps({"transport": transport or {"type": "file", "log_file_path": str(file), "append": True}}))
    settings = worker_config({**SETTINGS, "openlineage.integration.config.file.path": str(config), **(more or {})})
    emitter = lineage_emitter(herder, settings, reports)  # type: ignore[arg-type]
    assert emitter is not None
    emitter.start()
    return emitter


def events_of(file: Path) -> list[dict[str, Any]]:
    """Those that are written to their end."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n") and line.strip()]


def test_a_connector_is_told_with_what_it_reads_and_writes(tmp_path: Path):
    file, herder = tmp_path / "events.json", MemoryHerder()
    herder.create("mirror", dict(MIRROR))
    herder.topics["mirror"] = {"copy.orders"}
    herder.changes["mirror"] = [({"topic:partition": "orders:0"}, {"offset": 1})]
    emitter = started(herder, file)
    wait_until(lambda: [event["eventType"] for event in events_of(file)] == ["START"], 120, "the first event")
    herder.stop("mirror")
    wait_until(lambda: len(events_of(file)) == 2, 120, "the next event")
    emitter.stop()
    start, complete = events_of(file)
    assert (complete["eventType"], complete["run"]["runId"]) == ("COMPLETE", start["run"]["runId"])
    assert (start["job"]["namespace"], start["job"]["name"]) == ("prod", "mirror")
    assert start["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    places = [[(event["namespace"], event["name"]) for event in start[side]] for side in ("inputs", "outputs")]
    assert places == [[("kafka://far:9093", "orders")], [("kafka://kafka:9092", "copy.orders")]]
    assert "s3cret" not in file.read_text()


class Elsewhere(MemoryHerder):
    """The task of its connectors is on another worker, which may have left the group."""

    members: tuple[str, ...] = ("localhost:8083", "other:8083")
    task_worker = "localhost:8083"

    def workers(self) -> list[str]:
        return list(self.members)

    def status(self, name: str, *, own: bool = False) -> dict[str, Any]:
        status = super().status(name, own=own)
        return status | {"tasks": [task | {"worker_id": self.task_worker} for task in status["tasks"]]}


def test_the_records_of_a_run_are_counted_where_all_of_its_tasks_are() -> None:
    herder = Elsewhere()
    herder.create("mirror", dict(MIRROR))
    herder.topics["mirror"] = {"copy.orders"}
    jobs = ConnectorJobs(herder, "kafka:9092")  # type: ignore[arg-type]

    def counted(records: int) -> int | None:
        """After a restart of the task that writes these records."""
        herder.metrics.task("mirror", 0, "source").record(Batch(read=records, written=records, took_ms=1))
        list(jobs.states())
        return jobs.lineage("mirror").written

    assert [counted(3), counted(4), counted(0)] == [3, 7, 7]
    herder.stop("mirror")
    herder.metrics.remove_task("mirror", 0)
    list(jobs.states())
    assert jobs.lineage("mirror").written == 7  # of the run that has ended
    herder.resume("mirror")
    assert counted(2) == 2
    herder.task_worker = "other:8083"
    assert counted(1) is None
    herder.task_worker = "localhost:8083"
    assert counted(1) is None  # what the other has written in this run is not known
    herder.stop("mirror")
    list(jobs.states())
    herder.resume("mirror")
    herder.task_worker, herder.members = "other:8083", ("localhost:8083",)
    assert counted(5) == 5


@pytest.mark.parametrize(
    ("config", "records"),
    [
        ({"connector.class": "MirrorSourceConnector", "source.cluster.alias": "eu", "topics": "orders"}, 3),
        ({"connector.class": "FileStreamSink", "topics.regex": "or.*", "file": "/out"}, None),
    ],
)
def test_records_are_told_of_sources_alone_whichever_topics_a_connector_names(
    config: dict[str, str], records: int | None
) -> None:
    herder = MemoryHerder()
    herder.create("c", dict(config))
    herder.topics["c"] = {"eu.orders"}
    jobs = ConnectorJobs(herder, "kafka:9092")  # type: ignore[arg-type]
    list(jobs.states())
    herder.metrics.task("c", 0, "source").record(Batch(read=3, written=3, took_ms=1))
    list(jobs.states())
    assert jobs.lineage("c").written == records


def test_of_a_connector_that_does_not_declare_its_datasets_no_origin_is_said(tmp_path: Path):
    file, herder = tmp_path / "events.json", MemoryHerder()
    herder.create("some", {"connector.class": "org.example.Some"})
    herder.topics["some"] = {"orders"}
    herder.changes["some"] = [({"my": "partition"}, {"offset": 1})]
    emitter = started(herder, file)
    wait_until(lambda: events_of(file), 120, "the first event")
    emitter.stop()
    start = events_of(file)[0]
    assert list(spec.problems(start)) == [] and start["inputs"] == []
    assert [(event["name"], event["inputs"]) for event in start["job"]["facets"]["lineage"]["entries"]] == [("orders", [])]
    assert start["job"]["facets"]["documentation"]["description"].endswith("It does not say what it reads.")


def test_an_application_is_told_with_its_internal_topics_and_each_topic_with_those_that_it_is_made_of(tmp_path: Path):
    file, reports = tmp_path / "events.json", StreamsReports(lambda: 0)  # no instance is silent, however long a test takes
    internal = [
        {**STREAMS["internal_topics"][0], "name": "counts-by-city-repartition", "kind": "repartition"},
        {**STREAMS["internal_topics"][0], "name": "counts-by-city-changelog"},
    ]
    report = STREAMS | {"topology": TOPOLOGY, "internal_topics": internal, "servers": "kafka:9092"}
    emitter = started(MemoryHerder(), file, reports, {"openlineage.integration.job.owners": "MAINTAINER=team:data"})
    reports.put("counts", "one", report)
    wait_until(lambda: [event["eventType"] for event in events_of(file)] == ["START"], 120, "the first event")
    reports.put("counts", "one", report | {"state": "ERROR", "active": False, "error": "It broke."})
    wait_until(lambda: [event["eventType"] for event in events_of(file)] == ["START", "FAIL"], 120, "the failure")
    emitter.stop()
    start, failed = events_of(file)
    assert [list(spec.problems(one)) for one in (start, failed)] == [[], []]
    assert (start["job"]["name"], start["job"]["facets"]["jobType"]["jobType"]) == ("counts", "APPLICATION")
    assert start["job"]["facets"]["ownership"]["owners"] == [{"name": "team:data", "type": "MAINTAINER"}]
    assert failed["run"]["facets"]["errorMessage"]["message"] == "It broke."
    made_of = {
        entry["name"]: sorted(event["name"] for event in entry["inputs"])
        for entry in start["job"]["facets"]["lineage"]["entries"]
    }
    assert made_of == {
        "counts": ["counts-by-city-repartition"],
        "counts-by-city-changelog": ["counts-by-city-repartition"],
        "counts-by-city-repartition": ["more", "orders"],
    }


class _Receiver(BaseHTTPRequestHandler):
    """Takes events as a catalog does."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append((self.path, body))  # type: ignore[attr-defined]
        self.send_response(201)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """A catalog on this machine: its address, and path and body of all that it has been sent."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    server.bodies = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", server.bodies  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("by_environment", [False, True])
def test_a_catalog_gets_events_over_http_and_each_is_valid(
    tmp_path: Path, receiver: tuple[str, list[Any]], by_environment: bool, monkeypatch: pytest.MonkeyPatch
):
    url, bodies = receiver
    if by_environment:
        monkeypatch.setenv("OPENLINEAGE_URL", url)
    more = {"openlineage.integration.config.file.path": ""} if by_environment else None
    herder = MemoryHerder()
    mask = {
        "transforms": "m",
        "transforms.m.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.m.fields": "a",
    }
    herder.create("mirror", dict(MIRROR | mask))
    herder.create("file", {"connector.class": "FileStreamSink", "file": "/x", "topics": "t"})
    herder.topics |= {"mirror": {"copy.orders"}, "file": {"t"}}
    herder.changes["mirror"] = [({"topic:partition": "orders:0"}, {"offset": 1})]
    emitter = started(herder, tmp_path / "none", more=more, transport={"type": "http", "url": url, "timeout": 120})
    wait_until(lambda: len(bodies) == 2, 120, "the beginnings")
    herder.states["file"] = "FAILED"
    wait_until(lambda: len(bodies) == 3, 120, "the failure")
    emitter.stop()
    assert [body["eventType"] for _, body in bodies] == ["START", "START", "FAIL", "COMPLETE"]
    assert {path for path, _ in bodies} == {"/api/v1/lineage"}
    assert [list(spec.problems(body)) for _, body in bodies] == [[]] * 4


def test_a_poll_that_fails_is_logged_once_and_the_next_one_sends_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: list[Any]
):
    file, herder, polls = tmp_path / "events.json", MemoryHerder(), list[int]()
    herder.create("c", {"connector.class": "FileStreamSource"})

    def connectors() -> list[str]:
        polls.append(1)
        if len(polls) <= 3:
            raise ValueError("States are half written.")
        return ["c"]

    monkeypatch.setattr(herder, "connectors", connectors)
    emitter = started(herder, file)
    wait_until(lambda: events_of(file), 120, "an event after the failures")
    emitter.stop()
    warnings = [entry["cause"] for entry in events if entry["event"] == "openlineage.not-polled"]
    assert warnings == ["States are half written."]


def test_the_console_gets_events_as_lines_of_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    herder = MemoryHerder()
    herder.create("c", {"connector.class": "FileStreamSource"})
    logger = "openlineage.client.transport.console"

    def messages() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == logger]

    with caplog.at_level("INFO", logger=logger):
        emitter = started(herder, tmp_path / "none", transport={"type": "console"})
        wait_until(messages, 120, "the first event")
        emitter.stop()
    bodies = [json.loads(message) for message in messages()]
    assert [(body["eventType"], body["job"]["name"]) for body in bodies] == [("START", "c"), ("COMPLETE", "c")]
    assert [list(spec.problems(body)) for body in bodies] == [[], []]


def test_a_topic_gets_events_keyed_by_their_job(tmp_path: Path, destination: Cluster, topic_name: Callable[[str], str]):
    topic, herder = topic_name("lineage"), MemoryHerder()
    destination.create(topic)
    herder.create("c", {"connector.class": "FileStreamSource"})
    kafka = {"bootstrap.servers": destination.bootstrap}
    emitter = started(herder, tmp_path / "none", transport={"type": "kafka", "topic": topic, "config": kafka})
    wait_until(lambda: destination.size(topic) == 1, 120, "the first event")
    emitter.stop()
    wait_until(lambda: destination.size(topic) == 2, 120, "the last event")
    records = destination.read(topic)
    bodies = [json.loads(record.value or b"") for record in records]
    assert [(body["eventType"], body["run"]["runId"] == bodies[0]["run"]["runId"]) for body in bodies] == [
        ("START", True), ("COMPLETE", True),
    ]  # fmt: skip
    assert [record.key for record in records] == [b"run:prod/c"] * 2
    assert [list(spec.problems(body)) for body in bodies] == [[], []]


def test_tags_and_the_description_of_the_worker_are_facets_of_each_job(tmp_path: Path):
    file, herder = tmp_path / "events.json", MemoryHerder()
    herder.create("c", {"connector.class": "FileStreamSource"})
    more = {"openlineage.integration.job.tags": "env=prod, team = cdc", "openlineage.integration.job.description": "Our orders."}
    emitter = started(herder, file, more=more)
    wait_until(lambda: events_of(file), 120, "the first event")
    emitter.stop()
    start = events_of(file)[0]
    assert list(spec.problems(start)) == []
    assert [(tag["key"], tag["value"]) for tag in start["job"]["facets"]["tags"]["tags"]] == [("env", "prod"), ("team", "cdc")]
    assert start["job"]["facets"]["documentation"]["description"] == "Our orders."


@pytest.mark.parametrize(("option", "form"), [("owners", "role=name"), ("tags", "key=value")])
def test_an_owner_or_tag_that_is_no_pair_is_refused_in_a_sentence(option: str, form: str, tmp_path: Path):
    with pytest.raises(ConfigError, match=f"openlineage.integration.job.{option}.* has to be of the form {form}"):
        started(MemoryHerder(), tmp_path / "e", more={f"openlineage.integration.job.{option}": "me"})


def test_a_worker_that_ends_has_completed_its_runs(tmp_path: Path):
    file, herder = tmp_path / "events.json", MemoryHerder()
    herder.create("c", {"connector.class": "FileStreamSource"})
    emitter = started(herder, file)
    wait_until(lambda: len(events_of(file)) == 1, 120, "the first event")
    emitter.stop()
    assert [event["eventType"] for event in events_of(file)] == ["START", "COMPLETE"]


def test_without_the_setting_there_is_no_emitter():
    assert lineage_emitter(MemoryHerder(), WorkerConfig(worker_config().originals), REPORTS) is None  # type: ignore[arg-type]


def test_a_bad_file_ends_the_start_with_a_sentence(tmp_path: Path):
    settings = worker_config({**SETTINGS, "openlineage.integration.config.file.path": str(tmp_path / "none.yml")})
    with pytest.raises(ConfigError, match="the client cannot be made"):
        lineage_emitter(MemoryHerder(), settings, REPORTS)  # type: ignore[arg-type]
