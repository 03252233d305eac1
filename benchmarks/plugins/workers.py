"""The two workers, with the same `plugin.path`, and what the connectors are configured with."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from benchmarks import ours, peer
from benchmarks.engine import Engine

PLUGINS = ("org.apache.kafka:connect-file:4.3.0", "io.debezium:debezium-connector-postgres:3.6.1.Final:tar.gz:plugin")
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"


class Plugged(Engine):
    """A worker with the plugins of a directory."""

    own: ClassVar[dict[str, str]] = {}
    """What a connector's configuration needs so that the Java class runs."""

    def __init__(self, destination: str, label: str, workdir: Path, plugins: Path) -> None:
        super().__init__(destination, label, workdir)
        self.plugins = plugins

    def worker_properties(self) -> dict[str, str]:
        """Return what both sides share, and where the plugins are."""
        own = {"plugin.path": str(self.plugins), "header.converter": "org.apache.kafka.connect.storage.SimpleHeaderConverter"}
        return super().worker_properties() | peer.PLUGINS | own


class Headrace(Plugged):
    """A headrace worker."""

    name: ClassVar[str] = "headrace"
    own: ClassVar[dict[str, str]] = {"connector.engine": "java"}

    def command(self, properties: Path) -> list[str]:
        """Run `headrace worker`."""
        return ours.worker(properties)


class Connect(Plugged):
    """A worker of Kafka Connect."""

    name: ClassVar[str] = "Kafka Connect 4.3.0"

    def command(self, properties: Path) -> list[str]:
        """Run ConnectDistributed."""
        return peer.connect(properties)


def file_source(file: Path, topic: str) -> dict[str, str]:
    """Return the configuration of Kafka's file source: each line a record."""
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(file),
        "topic": topic,
        "value.converter": STRING,
    }


def debezium(port: int, table: str, prefix: str) -> dict[str, str]:
    """Return the configuration of Debezium for one table of the server at this port of 127.0.0.1."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": "postgres",
        "database.password": "none",
        "database.dbname": "postgres",
        "table.include.list": f"public.{table}",
        "topic.prefix": prefix,
        "slot.name": prefix.replace("-", "_"),
        "publication.name": prefix.replace("-", "_"),
        "publication.autocreate.mode": "filtered",
        "plugin.name": "pgoutput",
        # Debezium itself waits for this long, by default 500 ms, for a poll to be full, which is what would be measured.
        "poll.interval.ms": "10",
        **{f"{part}.converter": JSON for part in ("key", "value")},
        **{f"{part}.converter.schemas.enable": "false" for part in ("key", "value")},
    }
