"""A herder that keeps everything in dictionaries, for tests of the HTTP side alone: what is handed on, what fails, what is late.

It is our own interface, not Kafka or Spark, that it stands for. The real herder is behind REST in test_standalone.py, and in
tests/conformance/test_rest.py in a whole worker on a real broker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from headrace.cluster.event_log import EventLog
from headrace.cluster.state import ClusterState
from headrace.cluster.status import StatusState
from headrace.cluster.status_records import Status
from headrace.errors import AlreadyExistsError, BadRequestError, NotFoundError, RestError
from headrace.runtime.metrics import Metrics
from headrace.topics.active import TopicStatus

Config = dict[str, str | None]
Json = dict[str, Any]
OffsetChange = tuple[Any, Any]


@dataclass(frozen=True)
class Info:
    name: str
    config: Mapping[str, str | None]
    tasks: list[tuple[str, int]] = field(default_factory=list)
    type: str = "source"


def status_of(body: Json) -> Status:
    return cast(Status, {"trace": None, "generation": 1, **body})


class NoLeader:
    """Of a worker without a group."""

    def verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        raise RestError(403, "Internal request contained invalid signature.")

    def fence_zombies(self, name: str) -> None:
        raise NotFoundError(f"Connector {name} not found")

    def put_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        raise NotFoundError(f"Connector {name} not found")


class MemoryHerder:
    """Connectors with one task each that runs as soon as it is created."""

    worker_id = "localhost:8083"
    cluster_id = "memory"

    def __init__(self) -> None:
        self.class_version = {"version": "1"}  # empty: of a class without a version
        self.leader = NoLeader()
        self.metrics = Metrics()
        self.history, self.audit = EventLog(), EventLog()
        self.configs: dict[str, Config] = {}
        self.states: dict[str, str] = {}
        self.changes: dict[str, list[OffsetChange]] = {}
        self.restarts: list[tuple[str, bool, bool]] = []
        self.topics: dict[str, set[str]] = {}
        self.log_levels: list[tuple[str, str]] = []
        self.listeners: list[Callable[[str, str], None]] = []
        self.up = True
        self.busy = threading.Event()  # not set: ping waits
        self.busy.set()

    def ready(self) -> bool:
        return self.up

    def ping(self) -> None:
        self.busy.wait(30)

    def stage(self) -> str | None:
        return None if self.busy.is_set() else "The worker is currently asleep, which began at 2026-01-01T00:00:00Z."

    def connectors(self) -> list[str]:
        return list(self.configs)

    def snapshots(self) -> tuple[StatusState, ClusterState]:
        bodies = {name: self.status(name) for name in self.states}
        states = {name: status_of(body["connector"]) for name, body in bodies.items()}
        tasks = {name: {task["id"]: status_of(task) for task in body["tasks"]} for name, body in bodies.items()}
        topics = {name: {topic: TopicStatus(topic, name, 0, 0) for topic in self.topics.get(name, ())} for name in self.configs}
        configs = {name: {key: value or "" for key, value in config.items()} for name, config in self.configs.items()}
        return StatusState(states, tasks, topics), ClusterState(connectors=configs)

    def info(self, name: str) -> Info:
        return Info(name, self._config(name))

    def status(self, name: str, *, own: bool = False) -> Json:
        if name not in self.states:
            raise NotFoundError(f"No status found for connector {name}")
        state = {"state": self.states[name], "worker_id": self.worker_id, **self.class_version}
        more = {"stream": {"mode": "microbatch", "reason": "stream.mode=microbatch"}} if own else {}
        return {"name": name, "connector": state, "tasks": [{"id": 0, **state, **more}], "type": "source"}

    def task_status(self, name: str, task: int) -> Json:
        if name not in self.states or task != 0:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return self.status(name)["tasks"][0]

    def tasks(self, name: str) -> list[Json]:
        return [{"id": {"connector": name, "task": 0}, "config": dict(self._config(name))}]

    def create(self, name: str, config: Config, initial_state: str | None = None) -> Info:
        self._check(config)
        if name in self.configs:
            raise AlreadyExistsError(f"Connector {name} already exists")
        self.configs[name], self.states[name] = config, initial_state or "RUNNING"
        return Info(name, config)

    def put_config(self, name: str, config: Config) -> tuple[bool, Info]:
        self._check(config)
        new = name not in self.configs
        self.configs[name] = config
        self.states.setdefault(name, "RUNNING")
        return new, Info(name, config)

    def patch_config(self, name: str, patch: Config) -> Info:
        merged = {**self._config(name), **patch}
        return self.put_config(name, {k: v for k, v in merged.items() if v is not None})[1]

    def delete(self, name: str) -> None:
        self._config(name)
        del self.configs[name], self.states[name]

    def pause(self, *names: str) -> None:
        for name in names:
            self._set(name, "PAUSED")

    def resume(self, *names: str) -> None:
        for name in names:
            self._set(name, "RUNNING")

    def assignment_body(self) -> Json:
        return {"leader": True, "slots": 25, "slot_count": 25, "generation": 1}

    def workers(self) -> list[str]:
        return [self.worker_id]

    def stop(self, *names: str) -> None:
        for name in names:
            self._set(name, "STOPPED")

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        if name not in self.configs:
            raise NotFoundError(f"Unknown connector: {name}")
        self.restarts.append((name, include_tasks, only_failed))
        return self.status(name) if include_tasks or only_failed else None

    def restart_task(self, name: str, task: int) -> None:
        if name not in self.configs:
            raise NotFoundError(f"Unknown connector: {name}")
        if task != 0:
            raise NotFoundError(f"Unknown task: {name}-{task}")

    def active_topics(self, name: str) -> set[str]:
        return self.topics.get(name, set())

    def topics_since(self, name: str) -> dict[str, int]:
        return dict.fromkeys(self.topics.get(name, ()), 1_700_000_000_000)

    def topics_in_use(self, name: str) -> dict[str, list[Json]]:
        self._config(name)
        return {"topics": [], "drift": []}

    def reset_active_topics(self, name: str) -> None:
        self.topics.pop(name, None)

    def offsets(self, name: str) -> list[Json]:
        self._config(name)
        return [{"partition": p, "offset": o} for p, o in self.changes.get(name, [])]

    def source_partitions(self, name: str) -> list[Json | None]:
        return [p for p, _ in self.changes.get(name, [])]

    def lag(self, name: str, *, ages: bool) -> list[Json]:
        self._config(name)
        raise BadRequestError("It is not known how far the connector is behind.")

    def alter_offsets(self, name: str, changes: list[OffsetChange]) -> str:
        self._config(name)
        self.changes[name] = changes
        return "The offsets for this connector have been altered successfully"

    def reset_offsets(self, name: str) -> str:
        self._config(name)
        self.changes.pop(name, None)
        return "The offsets for this connector have been reset successfully"

    def validate(self, plugin: str, config: Config, *, look_up: bool) -> Json:
        self._check(config)
        return {"name": config["connector.class"], "error_count": 0, "groups": [], "configs": []}

    def plugin_config(self, plugin: type[Any]) -> list[Json]:
        return [{"name": plugin.__name__}]

    def set_cluster_log_level(self, namespace: str, level: str) -> None:
        self.log_levels.append((namespace, level))

    def on_log_level(self, listener: Callable[[str, str], None]) -> None:
        self.listeners.append(listener)

    def read_log_levels(self) -> None:
        """What happens when the config topic is read."""
        while self.log_levels:
            namespace, level = self.log_levels.pop(0)
            for listener in self.listeners:
                listener(namespace, level)

    def _config(self, name: str) -> Config:
        if name not in self.configs:
            raise NotFoundError(f"Connector {name} not found")
        return self.configs[name]

    def _set(self, name: str, state: str) -> None:
        if name not in self.configs:
            raise NotFoundError(f"Unknown connector {name}")
        self.states[name] = state

    def _check(self, config: Mapping[str, Any]) -> None:
        if config.get("connector.class") is None:
            shown = ", ".join(f"{k}={'null' if v is None else v}" for k, v in config.items())
            raise BadRequestError(f"Connector config {{{shown}}} contains no connector type")


class CurrentHerder:
    """The herder of the test that runs now, so that one server can serve many tests."""

    current: MemoryHerder

    def on_log_level(self, listener: Callable[[str, str], None]) -> None:
        """Tests of this have a server of their own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.current, name)
