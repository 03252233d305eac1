"""A flow of MirrorMaker's three connectors under test."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from headrace.errors import HeadraceError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent
from tests.support import wait_until

FLOW_S = 180  # how long anything may take on a machine that is busy with other things
PACKAGE = "org.apache.kafka.connect.mirror."


class Flow:
    """Mirrors the topics that begin with its name; its alias of the source is `<name>-a`."""

    def __init__(self, worker: EmbeddedWorker, clusters: tuple[Cluster, Cluster], name: str) -> None:
        self.worker, self.name, self.alias = worker, name, f"{name}-a"
        self.source, self.destination = clusters

    def config(self, connector: str) -> dict[str, str]:
        """The configuration of `MirrorSourceConnector` and the like, as users of MirrorMaker write it."""
        return {
            "connector.class": PACKAGE + connector, "tasks.max": "2",
            "source.cluster.alias": self.alias, "target.cluster.alias": f"{self.name}-b",
            "source.cluster.bootstrap.servers": self.source.bootstrap,
            "target.cluster.bootstrap.servers": self.destination.bootstrap,
            "topics": f"{self.name}-.*", "groups": f"{self.name}-.*", "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1", "refresh.topics.interval.seconds": "1",
            "sync.topic.configs.interval.seconds": "1", "heartbeats.replication.enabled": "false",
        }  # fmt: skip

    def deploy(self, connector: str, changes: dict[str, str | None] | None = None) -> str:
        """Create a connector, with these changes of its settings (None: without one); returns its name."""
        config = {**self.config(connector), "name": f"{self.name}-{connector}", **(changes or {})}
        name = config["name"]
        given = {key: value for key, value in config.items() if value is not None}
        self.worker.call("PUT", f"/connectors/{name}/config", given)
        return str(name)

    def remove(self, name: str) -> None:
        """Delete a connector, and wait until it is gone."""
        self.worker.call("DELETE", f"/connectors/{name}")
        wait_until(lambda: not self.status(name), FLOW_S, f"{name} is gone")

    def status(self, name: str) -> dict[str, Any]:
        try:
            return self.worker.call("GET", f"/connectors/{name}/status")
        except HeadraceError:
            return {}

    def copy(self, topic: str) -> str:
        """The name of a topic's copy."""
        return f"{self.alias}.{topic}"

    def await_copied(self, topic: str, count: int) -> list[Sent]:
        """Wait until the copy has this many records; returns them."""
        name = f"{self.name}-MirrorSourceConnector"

        def done() -> bool:
            parts = self.status(name)  # none until the connector has started
            states = [part["state"] for part in (parts["connector"], *parts["tasks"])] if parts else []
            assert "FAILED" not in states, parts
            return self.destination.size(self.copy(topic)) >= count

        wait_until(done, FLOW_S, f"{count} records in {self.copy(topic)}")
        return self.destination.read(self.copy(topic))

    def __enter__(self) -> Self:
        self.source.create(f"{self.name}-first", 3, {"max.message.bytes": "2000000", "min.insync.replicas": "1"})
        self.deploy("MirrorSourceConnector", {"metric.names.formats": "legacy,new"})
        self.deploy("MirrorHeartbeatConnector", {"heartbeats.topic.replication.factor": "1"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for connector in ("MirrorSourceConnector", "MirrorHeartbeatConnector"):
            self.remove(f"{self.name}-{connector}")
