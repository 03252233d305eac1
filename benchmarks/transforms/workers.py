"""The chain in a worker: each side reads the topics as typed data, transforms, and writes to the same broker."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from benchmarks import ours, peer
from benchmarks.engine import CLIENTS, Engine
from benchmarks.load import PARTITIONS
from benchmarks.transforms.chain import Format, transforms


class Transformer(Engine):
    """A worker whose connector reads the topics of a format from the cluster that the worker is on."""

    @abstractmethod
    def source(self, form: Format) -> dict[str, str]:
        """Return the connector's class and what it reads."""

    def connector(self, form: Format, out: str) -> dict[str, str]:
        """Return the whole configuration of a connector that writes to the topic `out`-NAME."""
        return {
            **self.source(form),
            "tasks.max": str(PARTITIONS),
            **form.converters,
            **transforms(out),
            "topic.creation.default.partitions": str(PARTITIONS),
            "topic.creation.default.replication.factor": "1",
            **CLIENTS,
        }


class Headrace(Transformer):
    """A headrace worker with its Kafka source connector."""

    name: ClassVar[str] = "headrace"

    def command(self, properties: Path) -> list[str]:
        """Run `headrace worker`."""
        return ours.worker(properties)

    def source(self, form: Format) -> dict[str, str]:
        """Read both topics with KafkaSourceConnector."""
        return {
            "connector.class": "KafkaSourceConnector",
            "source.bootstrap.servers": self.destination,
            "source.topic.whitelist": f"{form.topic},{form.dropped_topic}",
        }


class Connect(Transformer):
    """A Kafka Connect worker with JsonTopicSource.java; `classes`: where that is compiled."""

    name: ClassVar[str] = "Kafka Connect"

    def __init__(self, destination: str, label: str, workdir: Path, classes: Path) -> None:
        super().__init__(destination, label, workdir)
        self.classes = classes

    def command(self, properties: Path) -> list[str]:
        """Run ConnectDistributed."""
        return peer.connect(properties, self.classes)

    def worker_properties(self) -> dict[str, str]:
        """Return what both sides share, and how plugins are found."""
        return super().worker_properties() | peer.PLUGINS

    def source(self, form: Format) -> dict[str, str]:
        """Read all partitions of both topics with JsonTopicSource."""
        topics = (form.topic, form.dropped_topic)
        return {
            "connector.class": "io.headrace.bench.JsonTopicSource",
            "source.bootstrap.servers": self.destination,
            "source.partitions": ",".join(f"{topic}:{number}" for topic in topics for number in range(PARTITIONS)),
        }
