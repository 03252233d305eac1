"""A mirror connector under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from headrace.errors import HeadraceError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent
from tests.support import wait_until

MIRROR_S = 90  # how long anything may take on a machine that is busy with other things


class Mirror:
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
        self.worker, self.name, self.prefix = worker, name, f"{name}."
        self.path = f"/connectors/{quote(name, safe='')}"
        self.config = merged({
            "connector.class": "KafkaSourceConnector", "tasks.max": "1", "source.bootstrap.servers": self.source.bootstrap,
            "source.topic.whitelist": whitelist, "destination.topics.prefix": self.prefix,
            "topic.list.poll.interval.ms": "500",
            "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
            "topic.creation.default.retention.ms": "-1",
        }, config)  # fmt: skip

    def create(self) -> None:
        self.worker.call("POST", "/connectors", {"name": self.name, "config": self.config})

    def configure(self, changes: Mapping[str, str | None]) -> None:
        """PUT the configuration with these changes."""
        self.config = merged(self.config, changes)
        self.worker.call("PUT", self.path + "/config", self.config)

    def put(self, what: str) -> None:
        """PUT without a body: `pause`, `resume`, `stop`, `topics/reset`."""
        self.worker.call("PUT", f"{self.path}/{what}")

    def restart(self, query: str = "") -> Any:
        return self.worker.call("POST", f"{self.path}/restart{query}")

    def delete(self) -> None:
        try:
            self.worker.call("DELETE", self.path)
        except HeadraceError as e:  # the test has deleted it
            assert e.status == 404
        wait_until(lambda: not self.status(), 60, f"{self.name} is gone")

    def status(self) -> dict[str, Any]:
        """The status; `{}` while there is none."""
        try:
            return self.worker.call("GET", self.path + "/status")
        except HeadraceError as e:
            assert e.status == 404, e
            return {}

    def states(self) -> list[str]:
        """The states of the connector and its tasks; empty while there is no status."""
        status = self.status()
        return [status["connector"]["state"], *(t["state"] for t in status["tasks"])] if status else []

    def await_states(self, *states: str) -> dict[str, Any]:
        """Wait until connector and tasks are in these states; returns the status."""
        wait_until(lambda: self.states() == list(states), MIRROR_S, f"{self.name} is {states}, not {self.status()}")
        return self.status()

    def trace(self) -> str:
        """Wait for a failure of the connector or a task; returns its trace."""

        def failed() -> str:
            status = self.status()
            parts = [status["connector"], *status["tasks"]] if status else []
            return next((p["trace"] for p in parts if p["state"] == "FAILED"), "")

        return wait_until(failed, MIRROR_S, f"{self.name} fails")

    def topics(self) -> set[str]:
        """The active topics."""
        return set(self.worker.call("GET", self.path + "/topics")[self.name]["topics"])

    def offsets(self) -> dict[str, int]:
        """The stored offsets: `{"topic:partition": offset}`."""
        stored = self.worker.call("GET", self.path + "/offsets")["offsets"]
        return {entry["partition"]["topic:partition"]: entry["offset"]["offset"] for entry in stored}

    def await_copied(self, topic: str, count: int) -> list[Sent]:
        """Wait until the copy of a source topic has this many records or more, and fail if a task does; returns them."""
        copy = self.prefix + topic

        def done() -> bool:
            assert "FAILED" not in self.states(), self.status()
            return self.destination.size(copy) >= count

        wait_until(done, MIRROR_S, f"{count} records in {copy}")
        return self.destination.read(copy)


def merged(config: Mapping[str, str | None], changes: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in {**config, **changes}.items() if value is not None}
