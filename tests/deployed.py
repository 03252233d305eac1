"""A connector under test, deployed on a worker and driven over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from headrace.errors import HeadraceError
from headrace.testing.worker import EmbeddedWorker
from tests.support import wait_until

CONNECTOR_S = 180  # how long anything may take on a machine that is busy with other things


class Deployed:
    """A connector; what its kind alone can do is in the subclasses."""

    def __init__(self, worker: EmbeddedWorker, name: str, config: Mapping[str, str]) -> None:
        self.worker, self.name, self.config = worker, name, dict(config)
        self.path = f"/connectors/{quote(name, safe='')}"

    def create(self, initial_state: str | None = None) -> None:
        body = {"name": self.name, "config": self.config, "initial_state": initial_state}
        self.worker.call("POST", "/connectors", body)

    def put(self, what: str) -> None:
        """PUT without a body: `pause`, `resume`, `stop`, `topics/reset`."""
        self.worker.call("PUT", f"{self.path}/{what}")

    def configure(self, changes: Mapping[str, str | None]) -> None:
        """PUT the configuration with these changes."""
        self.config = merged(self.config, changes)
        self.worker.call("PUT", self.path + "/config", self.config)

    def restart(self, query: str = "") -> Any:
        return self.worker.call("POST", f"{self.path}/restart{query}")

    def restart_failed(self, cause: str) -> None:
        """Restart what has failed, and wait until its status no longer has the cause."""
        self.restart("?includeTasks=true&onlyFailed=true")
        wait_until(lambda: cause not in str(self.status()), CONNECTOR_S, lambda: f"a new task: {self.status()}")

    def delete(self) -> None:
        try:
            self.worker.call("DELETE", self.path)
        except HeadraceError as e:  # the test has deleted it
            assert e.status == 404
        wait_until(lambda: not self.status(), CONNECTOR_S, f"{self.name} is gone")

    def status(self) -> dict[str, Any]:
        """The status; `{}` while there is none."""
        try:
            return self.worker.call("GET", self.path + "/status")
        except HeadraceError as e:
            assert e.status == 404, e
            return {}

    def waiting_for(self) -> str | None:
        """What the first task waits for, as its status says; None for nothing, and while there is no status."""
        tasks = self.worker.call("GET", f"/headrace{self.path}/status")["tasks"] if self.status() else []
        return tasks[0].get("waiting_for") if tasks else None

    def states(self) -> list[str]:
        """The states of the connector and its tasks; empty while there is no status."""
        status = self.status()
        return [status["connector"]["state"], *(t["state"] for t in status["tasks"])] if status else []

    def await_states(self, *states: str) -> dict[str, Any]:
        """Wait until connector and tasks are in these states; returns the status."""
        wait_until(lambda: self.states() == list(states), CONNECTOR_S, lambda: f"{self.name} is {states}, not {self.status()}")
        return self.status()

    def trace(self) -> str:
        """Wait for a failure of the connector or a task; returns its trace."""

        def failed() -> str:
            status = self.status()
            parts = [status["connector"], *status["tasks"]] if status else []
            return next((p["trace"] for p in parts if p["state"] == "FAILED"), "")

        return wait_until(failed, CONNECTOR_S, f"{self.name} fails")

    def topics(self) -> set[str]:
        """The active topics."""
        return set(self.worker.call("GET", self.path + "/topics")[self.name]["topics"])

    def await_topics(self, *topics: str) -> None:
        """Wait until these are the active topics: a worker reads them from the status topic, after the records are written."""
        wait_until(lambda: self.topics() == set(topics), CONNECTOR_S, lambda: f"active topics {topics}, not {self.topics()}")


D = TypeVar("D", bound=Deployed)


def deploying(
    worker: EmbeddedWorker, kind: type[D], name: Callable[[], str], common: Mapping[str, str] | None = None
) -> Iterator[Callable[..., D]]:
    """For a fixture: gives what creates connectors, by `create(class, setting="value", …)`, and deletes them after the test.

    In the names of settings `_` stands for a dot. common: settings of all of them.
    """
    made: list[D] = []

    def create(connector: str, /, *, initial_state: str | None = None, **settings: str) -> D:
        own = {name.replace("_", "."): value for name, value in settings.items()}
        made.append(kind(worker, name(), {"connector.class": connector, **(common or {}), **own}))
        made[-1].create(initial_state)
        return made[-1]

    yield create
    for deployed in made:
        deployed.delete()


def merged(config: Mapping[str, str | None], changes: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in {**config, **changes}.items() if value is not None}
