"""The group of a standalone worker: it is the leader, and all connectors and tasks are assigned to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from headrace.cluster.assignment import EVERYTHING, Assignment
from headrace.cluster.records import SessionKey
from headrace.errors import ConnectError, RestError
from headrace.kafka.group_transactions import GroupMetadata
from headrace.runtime.metrics import Metrics


class StandaloneGroup:
    """A group without other workers."""

    def __init__(self) -> None:
        self._started = False

    def start(self, on_assignment: Callable[[Assignment], None], on_leadership: Callable[[], None]) -> None:
        """Assign everything to this worker."""
        on_assignment(EVERYTHING)
        self._started = True

    def measure(self, metrics: Metrics) -> None:
        """Do nothing: there are no rebalances."""

    def stop(self) -> None:
        """Do nothing: there is no group to leave."""

    def ready(self) -> bool:
        """Whether the worker has started."""
        return self._started

    def group_metadata(self) -> bytes | None:
        """None: there is no membership."""
        return None

    def session(self) -> GroupMetadata:
        """None: there is no membership."""
        return self.group_metadata

    def leads(self) -> bool:
        """True: a standalone worker is the leader."""
        return True

    def assignment_body(self) -> dict[str, Any]:
        """The whole assignment, as the leader."""
        return EVERYTHING.json() | {"leader": True}

    def workers(self) -> list[str]:
        """No other workers."""
        return []

    def leader_url(self) -> str | None:
        """None: there is no other leader."""
        return None

    def worker_url(self, worker_id: str) -> str | None:
        """None: there are no other workers."""
        return None

    def verify(self, body: bytes, headers: Mapping[str, str], key: SessionKey | None) -> NoReturn:
        """Raise RestError: there is no other worker that could have signed a request."""
        raise RestError(403, "Internal request contained invalid signature.")

    def fence(self, name: str, key: SessionKey | None) -> NoReturn:
        """Raise ConnectError: there is no other leader."""
        raise ConnectError(f"There is no other worker that could fence off tasks of connector {name}.")

    def submit_task_configs(self, name: str, configs: Sequence[dict[str, str]], key: SessionKey | None) -> NoReturn:
        """Raise ConnectError: there is no other leader."""
        raise ConnectError(f"There is no other worker for the task configurations of connector {name}.")
