"""A sink connector under test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.errors import HeadraceError
from headrace.testing.worker import EmbeddedWorker
from tests.support import wait_until

SINK_S = 90  # how long anything may take on a machine that is busy with other things


class Sink:
    """A sink connector, driven over REST."""

    def __init__(self, worker: EmbeddedWorker, name: str, config: Mapping[str, str]) -> None:
        self.worker, self.name, self.config = worker, name, dict(config)
        self.path = f"/connectors/{name}"

    def create(self, initial_state: str | None = None) -> None:
        body = {"name": self.name, "config": self.config, "initial_state": initial_state}
        self.worker.call("POST", "/connectors", body)

    def put(self, what: str) -> None:
        """PUT without a body: `pause`, `resume`, `stop`."""
        self.worker.call("PUT", f"{self.path}/{what}")

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

    def await_states(self, *states: str) -> None:
        wait_until(lambda: self.states() == list(states), SINK_S, f"{self.name} is {states}, not {self.status()}")

    def trace(self) -> str:
        """Wait for a task to fail; returns its trace."""

        def failed() -> str:
            tasks = self.status().get("tasks", [])
            return next((t["trace"] for t in tasks if t["state"] == "FAILED"), "")

        return wait_until(failed, SINK_S, f"{self.name} fails")

    def offsets(self) -> dict[tuple[str, int], int]:
        """The committed offsets as REST gives them."""
        found = self.worker.call("GET", self.path + "/offsets")["offsets"]
        return {(o["partition"]["kafka_topic"], o["partition"]["kafka_partition"]): o["offset"]["kafka_offset"] for o in found}

    def await_offsets(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Wait until these are the committed offsets, and fail if a task does."""

        def done() -> bool:
            assert "FAILED" not in self.states(), self.status()
            return self.offsets() == offsets

        wait_until(done, SINK_S, f"{self.name} has committed {offsets}")

    def topics(self) -> set[str]:
        """The active topics."""
        return set(self.worker.call("GET", self.path + "/topics")[self.name]["topics"])


def lines(file: Path) -> list[str]:
    """The lines of a file, none if it is not there."""
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def await_lines(file: Path, wanted: list[str]) -> None:
    """Wait until a file has these lines, in any order."""
    wait_until(lambda: len(lines(file)) >= len(wanted), SINK_S, f"{wanted} in {file}")
    assert sorted(lines(file)) == sorted(wanted)
