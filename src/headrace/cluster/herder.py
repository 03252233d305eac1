"""What the REST API does to connectors: checked, written to the config topic, and carried out by each connector's supervisor.

The herder changes nothing by itself. It writes what is wanted to the config topic; the supervisors act on what is read back from
there. So what a request has changed survives any crash, and a worker that starts finds its work in the topic.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import structlog

from headrace.cluster.offsets import SourceOffsets
from headrace.cluster.reports import RESTARTING, Reports
from headrace.cluster.stores import Stores
from headrace.cluster.supervisor import Restart, Supervisor, Wanted
from headrace.cluster.views import (
    ConnectorInfo,
    connector_type,
    restart_plan,
    restarting_body,
    status_body,
    task_status_body,
)
from headrace.config.redaction import concealed
from headrace.connectors import validation
from headrace.errors import AlreadyExistsError, NotFoundError, RestError
from headrace.runtime.worker import Worker

log = structlog.get_logger(__name__)

_TARGETS = {"RUNNING": "STARTED", "PAUSED": "PAUSED", "STOPPED": "STOPPED"}
_RESTART_WAIT_S = 90.0


class Herder:
    """The connectors of a cluster as REST sees them. Every method may be called from any thread."""

    def __init__(self, worker: Worker, stores: Stores, worker_id: str, cluster_id: str) -> None:
        self.worker_id, self.cluster_id = worker_id, cluster_id
        self.worker, self.config = worker, worker.config
        self._stores = stores
        self._reports: Reports | None = None
        self._offsets = SourceOffsets(stores.offsets)
        # One change of configurations at a time: check, write and read back belong together. Readers never take it.
        self._changing = threading.RLock()
        self._waking = threading.Lock()
        self._supervisors: dict[str, Supervisor] = {}
        self._written: Counter[tuple[str, str]] = Counter()  # (what, connector) -> how often it was written
        self._log_level_listeners: list[Callable[[str, str], None]] = []
        self._ready = self._stopped = False

    # ------------------------------------------------------------------------------------------------- life
    def start(self) -> None:
        """Run every connector that the config topic holds, and follow the topic from here on."""
        # Read from the status topic, which is known from here on (docs/decisions/0002).
        generation = self._stores.status.latest_generation() + 1
        self._reports = Reports(self._stores.status, self.worker_id, generation, self.config.topic_tracking_enable)
        self._stores.config.listen(self._on_change)
        for name in self.connectors():
            self._wake(name)
        self._ready = True

    def shut_down(self) -> None:
        """End all connectors and tasks of this worker, side by side, within the graceful time-out and a little."""
        self._stopped = True
        supervisors = list(self._supervisors.values())
        for supervisor in supervisors:
            supervisor.shut_down()
        for supervisor in supervisors:
            supervisor.ended.wait(self.config.task_shutdown_timeout_ms / 1000 + 10)

    def _on_change(self, what: str, name: str) -> None:
        """Told by the config store, on its thread, after a record was applied: what (`connector`, `tasks`, …) of which name."""
        if what == "logger":
            level = self._stores.config.snapshot().loggers[name]
            for listener in self._log_level_listeners:
                listener(name, level)
            return
        self._written[what, name] += 1
        self._wake(name, gone=name not in self._stores.config.snapshot().connectors)

    def _wake(self, name: str, gone: bool = False) -> None:
        """Have a connector looked at; also told by a supervisor that has ended, since it may have missed the next connector."""
        with self._waking:
            supervisor = self._supervisors.get(name)
            if supervisor is not None and not supervisor.ended.is_set():
                (supervisor.retire if gone else supervisor.wake)()
                return
            self._supervisors.pop(name, None)
            if self._stopped or self._reports is None or self._wanted(name) is None:
                return
            put = self._stores.config.put_task_configs
            supervisor = Supervisor(name, lambda: self._wanted(name), self.worker, self._reports, put, self._wake)
            self._supervisors[name] = supervisor
            supervisor.start()

    def _wanted(self, name: str) -> Wanted | None:
        state = self._stores.config.snapshot()
        config = state.connectors.get(name)
        if config is None:
            return None
        return Wanted(
            config=config,
            version=self._written["connector", name],
            target=state.target_state(name),
            tasks=state.task_configs(name),
            tasks_version=self._written["tasks", name],
        )

    # ------------------------------------------------------------------------------------------------- health
    def ready(self) -> bool:
        """Whether start-up is over."""
        return self._ready

    def ping(self) -> None:
        """Return once the internal topics answer: the worker is alive. Raises RetriableError if they do not."""
        self._stores.config.refresh()

    def stage(self) -> str | None:
        """What the worker is doing: not tracked, each connector has a thread of its own."""
        return None

    def set_cluster_log_level(self, namespace: str, level: str) -> None:
        """Write a log level to the config topic for all workers (KIP-976)."""
        self._stores.config.put_logger_level(namespace, level)

    def on_log_level(self, listener: Callable[[str, str], None]) -> None:
        """Have `listener(namespace, level)` called for each log level that is read from the config topic from now on."""
        self._log_level_listeners.append(listener)

    # ------------------------------------------------------------------------------------------------- reading
    def connectors(self) -> list[str]:
        """The names of all connectors."""
        return list(self._stores.config.snapshot().connectors)

    def info(self, name: str) -> ConnectorInfo:
        """Configuration, tasks and type of a connector. Raises NotFoundError."""
        state = self._stores.config.snapshot()
        config = self._config(name)
        tasks = [(name, number) for number in range(len(state.task_configs(name)))]
        return ConnectorInfo(name, config, tasks, connector_type(config))

    def _config(self, name: str) -> Mapping[str, Any]:
        config = self._stores.config.snapshot().connectors.get(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return config

    def status(self, name: str) -> dict[str, Any]:
        """The body of `GET /connectors/{name}/status`. Raises NotFoundError."""
        connector = self._stores.status.connector(name)
        if connector is None:
            raise NotFoundError(f"No status found for connector {name}")
        config = self._stores.config.snapshot().connectors.get(name, {})
        return status_body(name, connector, self._stores.status.tasks(name), connector_type(config))

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """The body of `GET /connectors/{name}/tasks/{task}/status`. Raises NotFoundError."""
        status = self._stores.status.tasks(name).get(task)
        if status is None:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return task_status_body(task, status)

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """The body of `GET /connectors/{name}/tasks`. Raises NotFoundError."""
        self._config(name)
        configs = self._stores.config.snapshot().task_configs(name)
        return [{"id": {"connector": name, "task": n}, "config": dict(c)} for n, c in enumerate(configs)]

    def validate(self, plugin: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """The body of `PUT /connector-plugins/{plugin}/config/validate`."""
        return validation.validate(plugin, config, self.config)

    def plugin_config(self, plugin: type[Any]) -> list[dict[str, Any]]:
        """The body of `GET /connector-plugins/{plugin}/config`."""
        return validation.plugin_definitions(plugin.plugin_name)

    # ------------------------------------------------------------------------------------------------- changing
    def create(self, name: str, config: Mapping[str, Any], initial_state: str | None = None) -> ConnectorInfo:
        """Create a connector. Raises BadRequestError for a bad configuration, AlreadyExistsError if the name is taken."""
        validation.check(config, self.config)
        with self._changing:
            if name in self._stores.config.snapshot().connectors:
                raise AlreadyExistsError(f"Connector {name} already exists")
            self._put(name, config, _TARGETS[initial_state.upper()] if initial_state else None)
        return ConnectorInfo(name, config, [], connector_type(config))

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, ConnectorInfo]:
        """Create or replace a connector; the answer's first part tells whether it is new. Raises BadRequestError."""
        validation.check(config, self.config)
        with self._changing:
            created = name not in self._stores.config.snapshot().connectors
            before = [] if created else self.info(name).tasks
            self._put(name, config, None)
        return created, ConnectorInfo(name, config, before, connector_type(config))

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> ConnectorInfo:
        """Change single keys (KIP-477); None removes one. Raises NotFoundError, BadRequestError."""
        with self._changing:
            merged = {**self._config(name), **patch}
            return self.put_config(name, {k: v for k, v in merged.items() if v is not None})[1]

    def _put(self, name: str, config: Mapping[str, Any], target: str | None) -> None:
        if target is not None:
            self._stores.config.put_target_state(name, target)
        self._stores.config.put_connector(name, config)

    def delete(self, name: str) -> None:
        """Delete a connector; its tasks end soon after. Raises NotFoundError."""
        with self._changing:
            self._config(name)
            self._stores.config.remove_connector(name)

    def pause(self, name: str) -> None:
        """Pause: connector and tasks stay allocated, nothing is read. Raises NotFoundError."""
        self._set_target(name, "PAUSED")

    def resume(self, name: str) -> None:
        """Go on after pause or stop. Raises NotFoundError."""
        self._set_target(name, "STARTED")

    def stop(self, name: str) -> None:
        """Stop: no tasks are left; configuration and offsets stay (KIP-875). Raises NotFoundError."""
        with self._changing:
            self._known(name)
            self._stores.config.put_task_configs(name, [])
            self._stores.config.put_target_state(name, "STOPPED")

    def _set_target(self, name: str, target: str) -> None:
        with self._changing:
            self._known(name)
            self._stores.config.put_target_state(name, target)

    def _known(self, name: str) -> None:
        if name not in self._stores.config.snapshot().connectors:
            raise NotFoundError(f"Unknown connector {name}")

    # ------------------------------------------------------------------------------------------------- restarting
    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> dict[str, Any] | None:
        """Restart the connector instance (both False: returns None when it is done), or parts of it by KIP-745.

        Returns the status body with the affected parts RESTARTING. Raises NotFoundError.
        """
        if name not in self._stores.config.snapshot().connectors:
            raise NotFoundError(f"Unknown connector: {name}")
        if not include_tasks and not only_failed:
            self._restart(name, Restart(connector=True))
            return None
        self._stores.config.put_restart_request(name, include_tasks, only_failed)
        body = self.status(name)
        states = {t["id"]: t for t in body["tasks"]}
        plan = restart_plan(body["connector"], states, include_tasks, only_failed)
        request = Restart(connector=plan.connector, tasks=plan.tasks, announce=RESTARTING)
        if plan.connector or plan.tasks:
            self._supervisor(name).restart(request)
        return restarting_body(body, plan)

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task; returns when the new one has begun. Raises NotFoundError."""
        state = self._stores.config.snapshot()
        if name not in state.connectors:
            raise NotFoundError(f"Unknown connector: {name}")
        if not 0 <= task < len(state.task_configs(name)):
            raise NotFoundError(f"Unknown task: {name}-{task}")
        self._restart(name, Restart(tasks=frozenset([task])))

    def _restart(self, name: str, request: Restart) -> None:
        self._supervisor(name).restart(request)
        if not request.done.wait(_RESTART_WAIT_S):
            raise RestError(500, f"Request timed out. The worker is currently restarting parts of connector {name}.")

    def _supervisor(self, name: str) -> Supervisor:
        supervisor = self._supervisors.get(name)
        if supervisor is None:  # deleted since the request was checked
            raise NotFoundError(f"Unknown connector: {name}")
        return supervisor

    # ------------------------------------------------------------------------------------------------- topics (KIP-558)
    def active_topics(self, name: str) -> set[str]:
        """The topics that the connector has used. Raises RestError 403 if tracking is off."""
        if not self.config.topic_tracking_enable:
            raise RestError(403, "Topic tracking is disabled.")
        return self._stores.status.topics(name)

    def reset_active_topics(self, name: str) -> None:
        """Forget them. Raises RestError 403 if tracking, or resetting, is off."""
        if not self.config.topic_tracking_enable:
            raise RestError(403, "Topic tracking is disabled.")
        if not self.config.topic_tracking_allow_reset:
            raise RestError(403, "Topic tracking reset is disabled.")
        self._stores.status.delete_topics(name)

    # ------------------------------------------------------------------------------------------------- offsets (KIP-875)
    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The stored source offsets of a connector. Raises NotFoundError."""
        self._config(name)
        return self._offsets.read(name)

    def alter_offsets(self, name: str, changes: list[tuple[Any, Any]]) -> str:
        """Set or (None) remove offsets of a stopped connector, each a source partition and its offset; returns the message.

        Raises NotFoundError, BadRequestError, ConnectError for what the connector refuses.
        """
        with self._changing, concealed():
            return self._offsets.alter(name, self._stopped_config(name), changes)

    def reset_offsets(self, name: str) -> str:
        """Remove all offsets of a stopped connector; returns the message. Raises NotFoundError, BadRequestError."""
        with self._changing, concealed():
            return self._offsets.reset(name, self._stopped_config(name))

    def _stopped_config(self, name: str) -> Mapping[str, Any]:
        config, state = self._config(name), self._stores.config.snapshot()
        self._offsets.require_stopped(name, state.target_state(name), len(state.task_configs(name)))
        return self.config.resolver.resolve(config).props
