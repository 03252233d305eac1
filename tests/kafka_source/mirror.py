"""A mirror connector under test."""

from __future__ import annotations

import json
from collections.abc import Mapping

from headrace.errors import RestError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent
from tests.deployed import CONNECTOR_S, Deployed, merged
from tests.support import wait_until


class Mirror(Deployed):
    """A KafkaSourceConnector, driven over REST. Its prefix is its name and a dot. A setting of None is left out."""

    def __init__(
        self,
        worker: EmbeddedWorker,
        clusters: tuple[Cluster, Cluster],
        name: str,
        whitelist: str,
        config: Mapping[str, str | None],
    ) -> None:
        self.source, self.destination = clusters
        self.prefix = f"{name}."
        super().__init__(worker, name, merged({
            "connector.class": "KafkaSourceConnector", "tasks.max": "1", "source.bootstrap.servers": self.source.bootstrap,
            "source.topic.whitelist": whitelist, "destination.topics.prefix": self.prefix,
            "topic.list.poll.interval.ms": "500",
            "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
            "topic.creation.default.retention.ms": "-1",
        }, config))  # fmt: skip

    def offsets(self) -> dict[str, int]:
        """The stored offsets: `{"topic:partition": offset}`."""
        stored = self.worker.call("GET", self.path + "/offsets")["offsets"]
        return {entry["partition"]["topic:partition"]: entry["offset"]["offset"] for entry in stored}

    def await_stored(self, offsets: Mapping[str, int]) -> None:
        """Wait until these are the stored offsets: a task that ends while it stores them may deliver again."""
        wait_until(lambda: self.offsets() == offsets, CONNECTOR_S, lambda: f"{offsets} are stored, not {self.offsets()}")

    def offsets_if_known(self) -> dict[str, int]:
        """The same; `{}` if they cannot be read (500), as while a broker is away."""
        try:
            return self.offsets()
        except RestError as error:
            if error.status != 500:
                raise
            return {}

    def streams(self) -> list[dict[str, str] | None]:
        """In which mode each task runs, and why, as `/headrace/connectors/{name}/status` tells."""
        tasks = self.worker.call("GET", f"/headrace{self.path}/status")["tasks"]
        own = ("stream", "freshness_ms")
        assert [{k: v for k, v in task.items() if k not in own} for task in tasks] == self.status()["tasks"]
        return [task.get("stream") for task in tasks]

    def await_copied(self, topic: str, count: int) -> list[Sent]:
        """Wait until the copy of a source topic has this many records or more, and fail if a task does; returns them."""
        copy = self.prefix + topic

        def copied() -> list[Sent]:
            assert "FAILED" not in self.states(), self.status()
            # The ends count the marks of transactions, too.
            found = self.destination.read(copy) if self.destination.size(copy) >= count else []
            return found if len(found) >= count else []

        return wait_until(copied, CONNECTOR_S, lambda: f"{count} records in {copy}; {self.status()}; {self.offsets()}")


def offsets_in(cluster: Cluster, topic: str) -> dict[str, int]:
    """The offsets of a mirror in an offset topic that has only these: `{"topic:partition": offset}`."""
    entries = sorted(cluster.read(topic), key=lambda r: r.timestamp)
    return {json.loads(r.key)[1]["topic:partition"]: json.loads(r.value)["offset"] for r in entries if r.key and r.value}
