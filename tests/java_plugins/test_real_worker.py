"""What plugins answer here is what they answer in a worker of Apache Kafka Connect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace.connect_config.common import SourceConnectorConfig
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.conformance.test_interoperability import KafkaConnect
from tests.java_plugins.archives import COUNTING
from tests.java_plugins.test_debezium import CONNECTOR as DEBEZIUM
from tests.process import worker_properties
from tests.support import wait_until

FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
CONFIGS = [
    {"connector.class": COUNTING, "topic": "t", "records": "-1", "secret": "hunter2"},
    {"connector.class": COUNTING, "topic": "t", "connector.plugin.version": "1.0"},
    {"connector.class": FILE, "file": "/f", "topic": "t", "batch.size": "many"},
    {"connector.class": DEBEZIUM, "database.hostname": "127.0.0.1", "database.port": "x", "snapshot.mode": "sometimes"},
]


def own_entries(answer: dict[str, Any]) -> dict[str, Any]:
    """The entries of a validation for the options that are the plugin's own."""
    common = SourceConnectorConfig.definition().options
    entries = {(entry["value"] or entry["definition"])["name"]: entry for entry in answer["configs"]}
    return {name: entry for name, entry in entries.items() if name not in common and not name.startswith("connector.engine")}


def test_validations_are_equal_entry_by_entry(
    java_worker: EmbeddedWorker, destination_broker: Broker, plugin_path: Path, tmp_path: Path, topic_name: Callable[[str], str]
):
    properties = worker_properties(topic_name("real"), f"http://localhost:{free_port()}")
    properties |= {"bootstrap.servers": destination_broker.bootstrap, "plugin.path": str(plugin_path)}
    real = KafkaConnect(tmp_path, properties)
    try:
        wait_until(real.ready, 120, "Kafka Connect to be ready")
        for config in CONFIGS:
            path = f"/connector-plugins/{config['connector.class']}/config/validate"
            theirs = own_entries(real.call("PUT", path, {"name": "c", **config}))
            ours = own_entries(java_worker.call("PUT", path, {"name": "c", **config, "connector.engine": "java"}))
            assert {name for name in theirs | ours if theirs.get(name) != ours.get(name)} == set(), config
    finally:
        real.process.kill()
        real.process.wait(60)
