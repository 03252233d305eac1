"""What plugins answer here is what they answer in a worker of Apache Kafka Connect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import pytest

from headrace.connect_config.common import SinkConnectorConfig, SourceConnectorConfig
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.conformance.test_interoperability import KafkaConnect
from tests.deployed import CONNECTOR_S
from tests.java_plugins.archives import COUNTING, IS_ODD, JOURNAL, LABEL, PLAIN, SHOUT, THROWING_VERSION
from tests.java_plugins.conftest import CREATION, WORKERS_CONVERTERS
from tests.java_plugins.test_debezium import CONNECTOR as DEBEZIUM
from tests.java_plugins.test_source import lines
from tests.process import worker_properties
from tests.support import wait_until

FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
STRING, JSON = "org.apache.kafka.connect.storage.StringConverter", "org.apache.kafka.connect.json.JsonConverter"
TYPES = {"key.converter": JSON, "value.converter": JSON, "key.converter.schemas.enable": "true"}
FAILING = {
    "transforms.loud.fail": "2", "transforms.loud.drop": "3", "transforms.loud.predicate": "tombstone",
    "transforms.loud.negate": "true", "predicates": "tombstone",
    "predicates.tombstone.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}  # fmt: skip
CHAIN = {
    "transforms": "loud,unwrap,none,old,wrong,route", "predicates": "odd,not",
    "transforms.route.type": "io.debezium.transforms.ByLogicalTableRouter", "transforms.route.plugin.version": "3.6.1.Final",
    "transforms.loud.type": SHOUT, "transforms.loud.drop": "-2", "transforms.loud.secret": "hunter2",
    "transforms.loud.predicate": "odd", "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "x", "transforms.none.type": "org.example.None",
    "transforms.none.negate": "true", "transforms.old.type": SHOUT,
    "transforms.old.plugin.version": "1.0", "transforms.old.fail": "many", "transforms.wrong.type": IS_ODD,
    "predicates.odd.type": "IsOdd", "predicates.not.type": IS_ODD, "predicates.not.plugin.version": "7",
}  # fmt: skip
CONVERTERS = {
    "key.converter": PLAIN, "value.converter": LABEL, "value.converter.label.depth": "7", "header.converter": LABEL,
    "header.converter.label.depth": "x",
}  # fmt: skip
CONFIGS = [
    {"connector.class": COUNTING, "topic": "t", "records": "-1", "secret": "hunter2"},
    {"connector.class": COUNTING, "topic": "t", "connector.plugin.version": "1.0"},
    {"connector.class": FILE, "file": "/f", "topic": "t", "batch.size": "many"},
    {"connector.class": DEBEZIUM, "database.hostname": "127.0.0.1", "database.port": "x", "snapshot.mode": "sometimes"},
    {"connector.class": JOURNAL, "topics": "t", "secret": "hunter2"},
    {"connector.class": JOURNAL},
    {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "topics": "t",
        "insert.mode": "sometimes",
        "batch.size": "x",
    },
    *({"connector.class": cls, **one, **CHAIN} for cls, one in ((COUNTING, {"topic": "t"}), (JOURNAL, {"topics": "t"}))),
    {"connector.class": COUNTING, "topic": "t", **CONVERTERS},
    {"connector.class": JOURNAL, "topics": "t", **CONVERTERS},
    {"connector.class": JOURNAL, "topics": "t", "value.converter": PLAIN, "value.converter.plugin.version": "1.0"},
]


COMMON = {*SourceConnectorConfig.definition().options, *SinkConnectorConfig.definition().options}
"""Options that all connectors have; some are headrace's own."""


def answer(worker: KafkaConnect | EmbeddedWorker, config: dict[str, str], known: set[str]) -> dict[str, Any]:
    """The entries of a validation by name, of the options in COMMON what is said of their values; or the error in place of it.

    known: of the classes that are recommended these are kept.
    """
    url = f"{worker.url.rstrip('/')}/connector-plugins/{config['connector.class']}/config/validate"
    answered = httpx.put(url, json={"name": "c", **config}, timeout=100).json()
    if "configs" not in answered:
        return answered
    entries = {(entry["value"] or entry["definition"])["name"]: entry for entry in answered["configs"]}
    for name, entry in entries.items():
        if name in COMMON:
            entry.pop("definition")
            entry["value"].pop("recommended_values")
        elif name.endswith(".type") and entry["value"]:
            entry["value"]["recommended_values"] = [cls for cls in entry["value"]["recommended_values"] if cls in known]
    return {name: entry for name, entry in entries.items() if not name.startswith("connector.engine")}


def plugins_of(worker: KafkaConnect | EmbeddedWorker) -> set[str]:
    return {plugin["class"] for plugin in worker.call("GET", "/connector-plugins?connectorsOnly=false")}


@pytest.fixture(scope="module")
def real(destination_broker: Broker, plugin_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaConnect]:
    """A worker of Apache Kafka Connect with the same plugins on the same cluster."""
    properties = worker_properties("real-plugins", f"http://localhost:{free_port()}")
    properties |= {"bootstrap.servers": destination_broker.bootstrap, "plugin.path": str(plugin_path), **WORKERS_CONVERTERS}
    worker = KafkaConnect(tmp_path_factory.mktemp("real"), properties)
    wait_until(worker.ready, 180, "Kafka Connect to be ready")
    yield worker
    worker.process.kill()
    worker.process.wait(180)


def test_validations_are_equal_entry_by_entry(java_worker: EmbeddedWorker, real: KafkaConnect):
    known, different = plugins_of(java_worker) & plugins_of(real), {}
    for number, config in enumerate(CONFIGS):
        theirs, ours = answer(real, config, known), answer(java_worker, {**config, "connector.engine": "java"}, known)
        names = {name for name in theirs.keys() | (ours.keys() - COMMON) if theirs.get(name) != ours.get(name)}
        different |= {(number, name): (ours.get(name), theirs.get(name)) for name in names}
    assert not different


def listed(worker: KafkaConnect | EmbeddedWorker) -> list[dict[str, str]]:
    """What is listed of the plugins that are compiled for these tests: each of them is in a manifest."""
    every = worker.call("GET", "/connector-plugins?connectorsOnly=false")
    found = [plugin for plugin in every if plugin["class"].startswith("org.example.")]
    return sorted(found, key=lambda plugin: (plugin["class"], plugin["type"], plugin.get("version", "")))


def test_plugins_are_listed_equal(java_worker: EmbeddedWorker, real: KafkaConnect):
    ours, theirs = listed(java_worker), listed(real)
    assert ours == theirs
    assert {"class": THROWING_VERSION, "type": "source"} in ours  # without a version


@pytest.mark.parametrize("cls", [COUNTING, JOURNAL, DEBEZIUM, SHOUT, IS_ODD, PLAIN, LABEL])
def test_the_options_of_a_class_are_listed_equal(java_worker: EmbeddedWorker, real: KafkaConnect, cls: str):
    def options(worker: KafkaConnect | EmbeddedWorker) -> list[dict[str, Any]]:
        listed = worker.call("GET", f"/connector-plugins/{cls}/config")
        return [option for option in listed if option["name"] not in COMMON and not option["name"].startswith("connector.engine")]

    assert options(java_worker) == options(real)


@dataclass(frozen=True)
class Side:
    """A connector in one of the workers, with a topic and a journal of its own."""

    worker: KafkaConnect | EmbeddedWorker
    topic: str
    journal: Path

    @property
    def name(self) -> str:
        return f"{self.topic}-connector"

    def create(self, config: dict[str, str]) -> None:
        whole = {**config, **CREATION, "journal": str(self.journal)}
        self.worker.call("POST", "/connectors", {"name": self.name, "config": whole})

    def call(self, method: str, path: str = "") -> Any:
        return self.worker.call(method, f"/connectors/{self.name}{path}")

    def lines(self) -> list[str]:
        """What the task has written down, but for commits, whose number is a matter of time, and names.

        Records are committed by two threads: at once those that are not sent, and others by the producer's.
        """
        known = [line for line in lines(self.journal) if line != "commit"]
        runs = groupby(known, lambda line: line.startswith("commitRecord"))
        ordered = [line for committed, run in runs for line in (sorted(run) if committed else run)]
        return [line.replace(self.name, "CONNECTOR").replace(self.topic, "TOPIC") for line in ordered]

    def positions(self) -> list[dict[str, Any]]:
        """The stored offsets."""
        found = self.call("GET", "/offsets")["offsets"]
        for one in found:
            one["partition"].pop("kafka_topic", None)
        return found


def sides(java_worker: EmbeddedWorker, real: KafkaConnect, topic_name: Callable[[str], str], tmp_path: Path) -> list[Side]:
    return [Side(worker, topic_name(f"s{n}"), tmp_path / str(n)) for n, worker in enumerate((java_worker, real))]


def await_equal(what: str, of: Callable[[Side], list[Any]], both: list[Side], there: Callable[[list[Any]], bool]) -> list[Any]:
    """Wait until what both sides have is there, and the same: one of them may be a commit ahead."""

    def equal() -> list[list[Any]]:
        ours, theirs = map(of, both)
        return [ours] if there(ours) and there(theirs) and ours == theirs else []

    (found,) = wait_until(equal, CONNECTOR_S, lambda: f"{what}, not {[of(side) for side in both]}")
    return found


def test_a_source_task_sees_what_it_sees_in_kafka_connect(
    java_worker: EmbeddedWorker, real: KafkaConnect, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    both = sides(java_worker, real, topic_name, tmp_path)
    for side in both:
        config = {"connector.class": COUNTING, "topic": side.topic, "varied": "yes", "errors.tolerance": "all", **TYPES}
        side.create({**config, "transforms": "loud", "transforms.loud.type": "org.example.Shout", **FAILING})

    def records(side: Side) -> list[Any]:
        return [(r.key, r.value, r.headers, r.partition) for r in cluster.read(side.topic)]

    await_equal("records", records, both, lambda found: len(found) == 2)
    await_equal("calls", Side.lines, both, lambda found: sum(line.startswith("commitRecord") for line in found) == 4)
    await_equal("offsets", Side.positions, both, bool)
    for side in both:
        side.call("DELETE")
    last = await_equal("calls until the end", Side.lines, both, lambda found: found[-1] == "stop")
    assert [line for line in last if line.startswith("commitRecord")].count("commitRecord 3") == 1  # without metadata


def test_a_sink_task_sees_what_it_sees_in_kafka_connect(
    java_worker: EmbeddedWorker, real: KafkaConnect, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    both = sides(java_worker, real, topic_name, tmp_path)
    values = [b"a", b"retry", None, b"errant", b"rewind", b"commit", b"last", b"pause"]
    for side in both:
        cluster.create(side.topic)
        cluster.produce(side.topic, [record(b"k", value, [("h", b"1")]) for value in values])
        config = {"connector.class": JOURNAL, "topics": side.topic, "errors.tolerance": "all", "errors.log.enable": "true"}
        config |= {"consumer.override.max.poll.records": "1", "key.converter": STRING, "value.converter": STRING}
        side.create(config)
    await_equal("calls", Side.lines, both, lambda found: bool(found) and "=pause " in found[-1])
    await_equal(
        "offsets", Side.positions, both, lambda found: bool(found) and found[0]["offset"] == {"kafka_offset": len(values)}
    )
    for side in both:
        side.call("PUT", "/stop")
    await_equal("calls until the end", Side.lines, both, lambda found: found[-1] == "stop")
    for side in both:
        side.call("DELETE")
