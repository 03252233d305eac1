"""A mirror connector under test."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from headrace.errors import HeadraceError
from headrace.testing.worker import EmbeddedWorker
from tests.support import wait_until


class Mirror:
    """A KafkaSourceConnector, driven over REST. Its prefix is its name and a dot."""

    def __init__(self, worker: EmbeddedWorker, name: str, source: str, whitelist: str, config: dict[str, str]) -> None:
        self.worker, self.name, self.prefix = worker, name, f"{name}."
        self.path = f"/connectors/{quote(name, safe='')}"
        self.config = {
            "connector.class": "KafkaSourceConnector", "tasks.max": "2", "source.bootstrap.servers": source,
            "source.topic.whitelist": whitelist, "destination.topics.prefix": self.prefix, "topic.list.poll.interval.ms": "500",
            "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
            "topic.creation.default.retention.ms": "-1", **config,
        }  # fmt: skip

    def create(self) -> None:
        self.worker.call("POST", "/connectors", {"name": self.name, "config": self.config})

    def delete(self) -> None:
        try:
            self.worker.call("DELETE", self.path)
        except HeadraceError as e:  # the test has deleted it
            assert e.status == 404  # noqa: PT017
            return
        wait_until(lambda: self._gone(), 60, f"{self.name} is gone")

    def _gone(self) -> bool:
        return self.name not in self.worker.call("GET", "/connectors?expand=status")

    def status(self) -> dict[str, Any]:
        """The status; `{}` while there is none."""
        try:
            return self.worker.call("GET", self.path + "/status")
        except HeadraceError:
            return {}

    def states(self) -> list[str]:
        """The states of the connector and its tasks; empty while there is no status."""
        status = self.status()
        return [status["connector"]["state"], *(t["state"] for t in status["tasks"])] if status else []

    def await_states(self, *states: str) -> dict[str, Any]:
        """Wait until connector and tasks are in these states; returns the status."""
        wait_until(lambda: self.states() == list(states), 60, f"{self.name} is {states}, not {self.status()}")
        return self.status()

    def trace(self) -> str:
        """Wait for a failure of the connector or a task; returns its trace."""

        def failed() -> str:
            status = self.status()
            parts = [status["connector"], *status["tasks"]] if status else []
            return next((p["trace"] for p in parts if p["state"] == "FAILED"), "")

        return wait_until(failed, 90, f"{self.name} fails")

    def topics(self) -> set[str]:
        """The active topics."""
        return set(self.worker.call("GET", self.path + "/topics")[self.name]["topics"])
