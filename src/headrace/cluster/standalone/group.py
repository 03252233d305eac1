"""The group of a worker that is alone (standalone mode): it leads, and everything is its own."""

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

    def start(self, take: Callable[[Assignment], None], tidy: Callable[[], None]) -> None:
        """Take everything."""
        take(EVERYTHING)
        self._started = True

    def measure(self, metrics: Metrics) -> None:
        """Nothing is shared, so nothing is shared again."""

    def stop(self) -> None:
        """Nothing to leave."""

    def ready(self) -> bool:
        """Once it has started."""
        return self._started

    def group_metadata(self) -> bytes | None:
        """There is no membership to prove."""
        return None

    def session(self) -> GroupMetadata:
        """There is no membership to prove."""
        return self.group_metadata

    def leads(self) -> bool:
        """Always."""
        return True

    def place(self) -> dict[str, Any]:
        """Everything, and it leads."""
        return EVERYTHING.json() | {"leader": True}

    def workers(self) -> list[str]:
        """There is no other."""
        return []

    def leader_url(self) -> str | None:
        """Not needed."""
        return None

    def worker_url(self, worker_id: str) -> str | None:
        """There is no other worker."""
        return None

    def verify(self, body: bytes, headers: Mapping[str, str], key: SessionKey | None) -> NoReturn:
        """No other worker can have sent the request. Raises RestError."""
        raise RestError(403, "Internal request contained invalid signature.")

    def fence(self, name: str, key: SessionKey | None) -> NoReturn:
        """There is nobody to ask."""
        raise ConnectError(f"There is no other worker that could fence off tasks of connector {name}.")

    def submit_task_configs(self, name: str, configs: Sequence[dict[str, str]], key: SessionKey | None) -> NoReturn:
        """There is nobody to hand anything over to."""
        raise ConnectError(f"There is no other worker for the task configurations of connector {name}.")
