"""The commands of the REST API for connectors: validated, written to the config topic, and executed by the supervisors.

The herder changes nothing by itself. It writes the desired state to the config topic; the supervisors act on the records read
back from there. So a change survives any crash, and a starting worker finds its work in the topic.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from headrace.cluster import rest_bodies
from headrace.cluster.assignment import Assignment
from headrace.cluster.current_stage import CurrentStage
from headrace.cluster.desired_state import Restart
from headrace.cluster.group import Group
from headrace.cluster.leader import Leader
from headrace.cluster.offsets import SourceOffsets, await_end_of_tasks, require_stopped
from headrace.cluster.rest_bodies import ConnectorInfo, connector_type, restart_plan
from headrace.cluster.sink_offsets import SinkOffsets
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.state import ClusterState
from headrace.cluster.status import StatusState
from headrace.cluster.status_reporter import StatusReporter, remove_stale_statuses
from headrace.cluster.stores import WorkerStores
from headrace.cluster.supervisors import Supervisors
from headrace.cluster.topic_rules import require_tracking, topics_in_use
from headrace.config.redaction import concealed
from headrace.connect_config import validation
from headrace.errors import AlreadyExistsError, ConfigError, ConnectError, ElsewhereError, NotFoundError, RestError
from headrace.runtime.states import RESTARTING
from headrace.runtime.worker import Worker

_TARGETS = {"RUNNING": "STARTED", "PAUSED": "PAUSED", "STOPPED": "STOPPED"}
_RESTART_WAIT_S = 90.0
_CHANGING = "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)"


class Herder:
    """The connectors of a cluster, for the REST API. Every method may be called from any thread."""

    def __init__(
        self, worker: Worker, stores: WorkerStores, worker_id: str, cluster_id: str, group: Group | StandaloneGroup
    ) -> None:
        """group: the workers; `leader` performs the leader's part here, or sends requests to the leader."""
        self.worker_id, self.cluster_id = worker_id, cluster_id
        self.worker, self.config, self.metrics = worker, worker.config, worker.metrics
        self._stores, self._group = stores, group
        self.history, self.audit = stores.events.history, stores.events.audit
        self._reporter = StatusReporter(stores.status, worker_id, self.config.topic_tracking_enable, self.metrics, self.history)
        self.leader = Leader(worker, stores.config, group)
        self._supervisors = Supervisors(worker, stores.config, self._reporter, self.leader)
        self._offsets = SourceOffsets(worker.offsets_of, self._group.group_metadata)
        self._sink_offsets = SinkOffsets(worker.config, worker.spark, stores.config.snapshot)
        self._log_level_listeners: list[Callable[[str, str], None]] = []
        self._stages = CurrentStage()

    # ------------------------------------------------------------------------------------------------- life
    def start(self) -> None:
        """Follow the config topic, and join the group of workers; each assignment is adopted."""
        self._stores.config.listen(self._on_change)
        self._group.start(self._adopt_assignment, self._remove_stale_statuses)

    def shut_down(self) -> None:
        """Stop all connectors and tasks of this worker in parallel, within the graceful time-out and a margin."""
        self._supervisors.shut_down()

    def _adopt_assignment(self, assignment: Assignment) -> None:
        """Adopt an assignment; the config topic is read to its end. Returns when revoked connectors and tasks have stopped."""
        # Parts that are gained get statuses newer than any: those of a deleted group (docs/decisions/0002), and of a lost worker.
        newest = self._stores.status.latest_generation() + 1 if assignment.slots - self._supervisors.assignment.slots else -1
        self._import_classes(self._stores.config.snapshot().connectors.values())
        self._supervisors.rebalance(Assignment(assignment.slots, assignment.count, max(assignment.generation, newest)))
        if assignment.slots:
            self._remove_stale_statuses()

    def _remove_stale_statuses(self) -> None:
        """Remove statuses of removed parts: all as the leader, else those of this worker, which may have been away."""
        remove_stale_statuses(*self.snapshots(), self._reporter, self._group.leads())

    def _on_change(self, kind: str, name: str) -> None:
        """Called by the config store, on its thread, after it has applied a record. kind: `connector`, `tasks` …"""
        if kind == "logger":
            level = self._stores.config.snapshot().loggers[name]
            for listener in self._log_level_listeners:
                listener(name, level)
        elif kind == "restart":
            self._restart_parts(name)
        elif kind != "session-key":
            if kind == "connector":
                self._import_classes([self._stores.config.snapshot().connectors.get(name, {})])
            self._supervisors.changed(kind, name)

    def _import_classes(self, configs: Iterable[Mapping[str, Any]]) -> None:
        """Import the classes of these connectors in a thread: REST requests need the type of a connector, and must not wait."""
        types = (connector_type(config) for config in list(configs))
        threading.Thread(target=lambda: list(types), name="connector-types", daemon=True).start()

    # ------------------------------------------------------------------------------------------------- health
    def ready(self) -> bool:
        """Whether start-up is over."""
        return self._group.ready()

    def ping(self) -> None:
        """Return once the config topic can be read to its end. Raises RetriableError otherwise."""
        with self._stages.during("reading to the end of the config topic"):
            self._stores.config.refresh()

    def assignment_body(self) -> dict[str, Any]:
        """The assignment of this worker, for `GET /headrace/worker`."""
        return self._group.assignment_body()

    def workers(self) -> list[str]:
        """The ids of all workers of the group, this one first. Raises KafkaFailure."""
        return [self.worker_id, *(worker for worker in self._group.workers() if worker != self.worker_id)]

    def stage(self) -> str | None:
        """The step that requests wait for (reading internal topics), as a sentence; None if there is none."""
        return self._stages.sentence()

    def set_cluster_log_level(self, namespace: str, level: str) -> None:
        """Write a log level to the config topic for all workers (KIP-976)."""
        self._stores.config.put_logger_level(namespace, level)

    def on_log_level(self, listener: Callable[[str, str], None]) -> None:
        """Call `listener(namespace, level)` for each log level that is read from the config topic from now on."""
        self._log_level_listeners.append(listener)

    # ------------------------------------------------------------------------------------------------- reading
    def connectors(self) -> list[str]:
        """The names of all connectors."""
        return list(self._stores.config.snapshot().connectors)

    def snapshots(self) -> tuple[StatusState, ClusterState]:
        """The states of all connectors, and their configurations. A part of them that has not changed is the same object."""
        return self._stores.status.snapshot(), self._stores.config.snapshot()

    def info(self, name: str) -> ConnectorInfo:
        """Configuration, tasks and type of a connector. Raises NotFoundError."""
        config, count = self._config(name), len(self._stores.config.snapshot().task_configs(name))
        return ConnectorInfo(name, config, [(name, number) for number in range(count)], connector_type(config))

    def _config(self, name: str) -> Mapping[str, Any]:
        config = self._stores.config.snapshot().connectors.get(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return config

    def _resolved(self, name: str) -> Mapping[str, Any]:
        """The configuration with the values of config providers; callers conceal them in errors."""
        return self._without_placeholders(self._config(name))

    def status(self, name: str, *, own: bool = False) -> dict[str, Any]:
        """The body of `GET /connectors/{name}/status`; own: with headrace's own fields. Raises NotFoundError."""
        connector = self._stores.status.connector(name)
        if connector is None:
            raise NotFoundError(f"No status found for connector {name}")
        kind = connector_type(self._stores.config.snapshot().connectors.get(name, {}))
        return rest_bodies.status_body(name, connector, self._stores.status.tasks(name), kind, ["stream"] if own else [])

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """The body of `GET /connectors/{name}/tasks/{task}/status`. Raises NotFoundError."""
        status = self._stores.status.tasks(name).get(task)
        if status is None:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return rest_bodies.task_status_body(task, status)

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """The body of `GET /connectors/{name}/tasks`. Raises NotFoundError."""
        self._config(name)
        configs = self._stores.config.snapshot().task_configs(name)
        return [{"id": {"connector": name, "task": n}, "config": dict(c)} for n, c in enumerate(configs)]

    def validate(self, plugin: str, config: Mapping[str, Any], *, look_up: bool) -> dict[str, Any]:
        """The body of `PUT /connector-plugins/{plugin}/config/validate`; look_up: as of `validation.validate`."""
        return validation.validate(plugin, config, self.config, look_up=look_up)

    def plugin_config(self, plugin: type[Any]) -> list[dict[str, Any]]:
        """The body of `GET /connector-plugins/{plugin}/config`."""
        return validation.plugin_definitions(plugin)

    # ------------------------------------------------------------------------------------------------- changing
    def create(self, name: str, config: Mapping[str, Any], initial_state: str | None = None) -> ConnectorInfo:
        """Create a connector. Raises BadRequestError for a bad configuration, AlreadyExistsError if the name is taken."""
        validation.check(config, self.config)
        self.leader.require()
        with self.leader.changing:
            if name in self._stores.config.snapshot().connectors:
                raise AlreadyExistsError(f"Connector {name} already exists")
            self._stores.config.put_connector(name, config, _TARGETS[initial_state.upper()] if initial_state else None)
        return ConnectorInfo(name, config, [], connector_type(config))

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, ConnectorInfo]:
        """Create or replace a connector; returns whether it is new, and its info. Raises BadRequestError."""
        validation.check(config, self.config)
        self.leader.require()
        with self.leader.changing:
            return self._put_config(name, config)

    def _put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, ConnectorInfo]:
        created = name not in self._stores.config.snapshot().connectors
        before = [] if created else self.info(name).tasks
        self._stores.config.put_connector(name, config, None)
        return created, ConnectorInfo(name, config, before, connector_type(config))

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> ConnectorInfo:
        """Change single keys (KIP-477); None removes a key. Raises NotFoundError, BadRequestError."""
        self.leader.require()
        while True:
            before = self._config(name)  # a null that was there before stays
            config = {k: v for k, v in before.items() if k not in patch} | {k: v for k, v in patch.items() if v is not None}
            validation.check(config, self.config)  # without the lock: a plugin may connect to its database
            with self.leader.changing:
                if self._config(name) is before:
                    return self._put_config(name, config)[1]

    def delete(self, name: str) -> None:
        """Delete a connector; its tasks end soon after. Raises NotFoundError."""
        self.leader.require()
        with self.leader.changing_offsets(name), self.leader.changing:
            self._config(name)
            self._stores.config.remove_connector(name)

    def pause(self, *names: str) -> None:
        """Pause: connectors and tasks stay allocated, nothing is read. Raises NotFoundError, before any of them is paused."""
        self._set_target("PAUSED", names)

    def resume(self, *names: str) -> None:
        """Resume after a pause or stop. Raises NotFoundError, before any of them is resumed."""
        with self.leader.changing_offsets(*names):  # tasks are to begin at the offsets that are being altered
            self._set_target("STARTED", names)

    def stop(self, *names: str) -> None:
        """Stop: tasks are removed; configuration and offsets stay (KIP-875). Raises NotFoundError, before any is stopped."""
        self.leader.require()
        with self.leader.changing:
            self._require_exist(names)
            self._stores.config.put_task_configs(*((name, []) for name in names))
            self._stores.config.put_target_state("STOPPED", *names)

    def _set_target(self, target: str, names: Sequence[str]) -> None:
        with self.leader.changing:
            self._require_exist(names)
            self._stores.config.put_target_state(target, *names)

    def _require_exist(self, names: Iterable[str]) -> None:
        if missing := [name for name in names if name not in self._stores.config.snapshot().connectors]:
            raise NotFoundError(f"Unknown connector {missing[0]}")

    # ------------------------------------------------------------------------------------------------- restarting
    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> dict[str, Any] | None:
        """Restart the connector instance (both False: returns None when done), or parts of the connector (KIP-745).

        Returns the status body with the affected parts RESTARTING. Raises NotFoundError, ElsewhereError, and ConnectError if the
        instance cannot be started.
        """
        if name not in self._stores.config.snapshot().connectors:
            raise NotFoundError(f"Unknown connector: {name}")
        if not include_tasks and not only_failed:
            if not self._supervisors.assignment.has_connector(name):
                self._redirect_to_owner(self._stores.status.connector(name), f"connector {name}")
            self._restart(name, Restart(connector=True))
            return None
        self.leader.require()
        body = self.status(name) if self._stores.status.connector(name) else None  # before the restart changes it
        self._stores.config.put_restart_request(name, include_tasks, only_failed)
        if body is None:
            raise NotFoundError(f"Status for connector {name} not found")
        plan = restart_plan(body["connector"], {t["id"]: t for t in body["tasks"]}, include_tasks, only_failed)
        return rest_bodies.restarting_body(body, plan)

    def _restart_parts(self, name: str) -> None:
        """Execute this worker's part of a restart request that was read (KIP-745)."""
        request, connector = self._stores.config.snapshot().restart_requests.get(name), self._stores.status.connector(name)
        if request is None or connector is None:
            return
        plan = restart_plan(connector, self._stores.status.tasks(name), request.include_tasks, request.only_failed)
        if plan.connector or plan.tasks:
            self._supervisors.restart(name, Restart(plan.connector, plan.tasks, announce=RESTARTING))

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task; returns when the new one has started.

        Raises NotFoundError, ElsewhereError, ConnectError if it cannot be started, and RestError 409 for a removed task that is
        still stopping.
        """
        self._require_task(name, task)
        if task not in self._supervisors.assignment.tasks(name, task + 1):
            self._redirect_to_owner(self._stores.status.tasks(name).get(task), f"task {name}-{task}")
        self._restart(name, Restart(tasks=frozenset([task])))
        self._require_task(name, task)  # the connector may have been reconfigured or stopped while the request waited

    def _require_task(self, name: str, task: int) -> None:
        state = self._stores.config.snapshot()
        if name not in state.connectors:
            raise NotFoundError(f"Unknown connector: {name}")
        if 0 <= task < len(state.task_configs(name)):
            return
        if task in self._stores.status.tasks(name):  # its worker removes the status when it has stopped
            raise RestError(409, _CHANGING)
        if self.config.worker_group is not None and task in state.known_tasks.get(name, ()):
            raise ElsewhereError("The task was removed", None)  # no worker of the group has it: Kafka Connect's answer
        raise NotFoundError(f"Unknown task: {name}-{task}")

    def _redirect_to_owner(self, status: Mapping[str, Any] | None, part: str) -> NoReturn:
        """Redirect the request to the worker that runs a part, by its status. Raises ElsewhereError."""
        url = None
        if status is not None and status["worker_id"] != self.worker_id and status["state"] != "UNASSIGNED":
            url = self._group.worker_url(status["worker_id"])
        raise ElsewhereError(f"Cannot restart {part} since it is not assigned to this member", url)

    def _restart(self, name: str, request: Restart) -> None:
        self._supervisors.restart(name, request)
        if not request.done.wait(_RESTART_WAIT_S):
            raise RestError(500, f"Request timed out. The worker is currently restarting parts of connector {name}.")
        self._without_placeholders(self._stores.config.snapshot().connectors.get(name, {}))  # where that fails, Kafka says so
        if request.error is not None:
            what = f"connector: {name}" if request.connector else f"task: {name}-{min(request.tasks)}"
            raise ConnectError(f"Failed to start {what}") from request.error

    # ------------------------------------------------------------------------------------------------- topics (KIP-558)
    def active_topics(self, name: str) -> set[str]:
        """The topics that the connector has used. Raises RestError 403 if tracking is off."""
        require_tracking(self.config)
        return self._stores.status.topics(name)

    def topics_since(self, name: str) -> dict[str, int]:
        """The active topics with the time (epoch ms) of their discovery; empty if tracking is off."""
        return self._stores.status.topics_since(name) if self.config.topic_tracking_enable else {}

    def topics_in_use(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """The topics, settings, and a source's drift. Raises as the function of this name, and NotFoundError."""
        with concealed():
            topics, config = self.topics_since(name), self._resolved(name)
            return topics_in_use(name, config, topics, self.config, has_rules=connector_type(config) == "source")

    def reset_active_topics(self, name: str) -> None:
        """Remove the active topics. Raises RestError 403 if tracking, or resetting, is off."""
        require_tracking(self.config)
        if not self.config.topic_tracking_allow_reset:
            raise RestError(403, "Topic tracking reset is disabled.")
        self._stores.status.delete_topics(name)

    # ------------------------------------------------------------------------------------------------- offsets (KIP-875)
    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The stored source offsets of a connector, or the committed ones of a sink's group. Raises NotFoundError."""
        with concealed():
            config = self._resolved(name)
            return self._offsets_of(config).read(name, config)

    def source_partitions(self, name: str) -> list[dict[str, Any] | None]:
        """The source partitions with an offset, from memory, without a request to Kafka."""
        return [None if partition is None else dict(partition) for partition in self._stores.offsets.partitions(name)]

    def lag(self, name: str, *, ages: bool) -> list[dict[str, Any]]:
        """The lag of each partition; ages: with times, of sources only. Raises NotFoundError, BadRequestError, KafkaFailure."""
        with concealed():
            config = self._resolved(name)
            if connector_type(config) == "sink":
                return self._sink_offsets.lag(name, config)
            return self._offsets.lag({**config, "name": name}, self._stores.config.snapshot().task_configs(name), ages)

    def alter_offsets(self, name: str, changes: list[tuple[Any, Any]]) -> str:
        """Set or (None) remove offsets of partitions of a stopped connector; returns the message. Raises a HeadraceError."""
        with self._stopped("alter", name) as config:
            return self._offsets_of(config).alter(name, config, changes)

    def reset_offsets(self, name: str) -> str:
        """Remove all offsets of a stopped connector; returns the message. Raises NotFoundError, BadRequestError."""
        with self._stopped("reset", name) as config:
            return self._offsets_of(config).reset(name, config)

    def _offsets_of(self, config: Mapping[str, Any]) -> SourceOffsets | SinkOffsets:
        return self._sink_offsets if connector_type(config) == "sink" else self._offsets

    @contextmanager
    def _stopped(self, action: str, name: str) -> Iterator[Mapping[str, Any]]:
        """The configuration of a stopped connector, of which no task can store offsets any more. action: `alter`, `reset`."""
        self.leader.require()
        with self.leader.changing_offsets(name), concealed():
            require_stopped(name, self._stores.config.snapshot())
            config, end_s = self._resolved(name), 2 * self.config.task_shutdown_timeout_ms / 1000
            if self.config.exactly_once_enabled and connector_type(config) == "source":
                self.leader.fence_zombies(name)
            await_end_of_tasks(action, name, connector_type(config), self._stores, end_s)
            yield config

    def _without_placeholders(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """A configuration without placeholders. Raises ConnectError, as the fault is not the request's."""
        try:
            return self.config.resolver.resolve(config).props
        except ConfigError as error:
            raise ConnectError(error.message) from error
