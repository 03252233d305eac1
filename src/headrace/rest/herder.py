"""The worker's interface to the REST server.

`headrace.cluster.herder.Herder` has this shape; it is not imported here. Every method is synchronous and thread-safe, and raises
HeadraceError subclasses, whose `status` and message become the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from headrace.cluster.event_log import EventLog
from headrace.runtime.metrics import Metrics


class ShownConnector(Protocol):
    """A connector as GET /connectors/{name} shows it; tasks: (connector, number); type: source, sink or unknown."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def config(self) -> Mapping[str, str | None]: ...  # noqa: D102
    @property
    def tasks(self) -> Sequence[tuple[str, int]]: ...  # noqa: D102
    @property
    def type(self) -> str: ...  # noqa: D102


Config = dict[str, str | None]
Json = dict[str, Any]
OffsetChange = tuple[Any, Any]  # partition and offset: an object, or None


class RestLeader(Protocol):
    """The leader's interface to the REST server, for requests between workers."""

    def verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Raise a RestError unless this request comes from another worker of the group."""
        ...

    def put_task_configs(self, name: str, configs: list[dict[str, str]]) -> None:
        """Write the task configurations of a connector on another worker; NotFoundError, BadRequestError."""
        ...

    def fence_zombies(self, name: str) -> None:
        """Fence off the tasks of a connector's last generation, for another worker; NotFoundError, RestError 409."""
        ...


class RestHerder(Protocol):
    """A worker, seen from its REST interface."""

    @property
    def leader(self) -> RestLeader:
        """The leader of the group, for requests of other workers."""
        ...

    @property
    def worker_id(self) -> str:
        """Host and port of this worker, as they are in the status of its connectors."""
        ...

    @property
    def cluster_id(self) -> str:
        """The id of the Kafka cluster."""
        ...

    @property
    def metrics(self) -> Metrics:
        """The worker's metrics."""
        ...

    @property
    def history(self) -> EventLog:
        """States of connectors and tasks, with their causes."""
        ...

    @property
    def audit(self) -> EventLog:
        """The audit log."""
        ...

    def assignment_body(self) -> Json:
        """This worker's assignment: leader, slots, slot_count, generation."""
        ...

    def workers(self) -> list[str]:
        """The ids of all workers of the group, this one first; KafkaFailure."""
        ...

    def ready(self) -> bool:
        """Whether start-up is over: the internal topics are read and work can be taken."""
        ...

    def ping(self) -> None:
        """Return once the worker has got round to this request, and reaches its internal topics."""
        ...

    def stage(self) -> str | None:
        """What the worker is doing now: `The worker is currently …, which began at ….`; None if that is not known."""
        ...

    def connectors(self) -> list[str]:
        """The names of all connectors."""
        ...

    def info(self, name: str) -> ShownConnector:
        """A connector; NotFoundError."""
        ...

    def status(self, name: str, *, own: bool = False) -> Json:
        """The body of GET …/status; own: with what is headrace's own; NotFoundError."""
        ...

    def task_status(self, name: str, task: int) -> Json:
        """The body of GET …/tasks/{task}/status; NotFoundError."""
        ...

    def tasks(self, name: str) -> list[Json]:
        """The body of GET …/tasks; NotFoundError."""
        ...

    def create(self, name: str, config: Config, initial_state: str | None = None) -> ShownConnector:
        """Add a connector; initial_state: RUNNING, PAUSED, STOPPED. AlreadyExistsError, BadRequestError."""
        ...

    def put_config(self, name: str, config: Config) -> tuple[bool, ShownConnector]:
        """Add or reconfigure a connector; first: whether it is new. BadRequestError."""
        ...

    def patch_config(self, name: str, patch: Config) -> ShownConnector:
        """Change single settings, None removes one. NotFoundError, BadRequestError."""
        ...

    def delete(self, name: str) -> None:
        """Remove a connector; NotFoundError."""
        ...

    def pause(self, name: str) -> None:
        """Let it rest, with its tasks allocated; NotFoundError."""
        ...

    def resume(self, name: str) -> None:
        """Let it run; NotFoundError."""
        ...

    def stop(self, name: str) -> None:
        """End its tasks; NotFoundError."""
        ...

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        """Restart a connector; the body of a 202, or None if only the connector itself was restarted. NotFoundError."""
        ...

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task; NotFoundError."""
        ...

    def active_topics(self, name: str) -> set[str]:
        """The topics a connector has used since its last reset; RestError 403 if tracking is off."""
        ...

    def topics_since(self, name: str) -> dict[str, int]:
        """The active topics with the time (epoch ms) of their discovery; empty if tracking is off."""
        ...

    def topics_in_use(self, name: str) -> dict[str, list[Json]]:
        """Its `topics` with their settings, and the `drift` from its rules for new ones, fields of TopicDrift; NotFoundError."""
        ...

    def reset_active_topics(self, name: str) -> None:
        """Forget them; RestError 403 if tracking, or resetting, is off."""
        ...

    def offsets(self, name: str) -> list[Json]:
        """The committed offsets, `{"partition": {…}, "offset": {…}}` each; NotFoundError."""
        ...

    def source_partitions(self, name: str) -> list[Json | None]:
        """The source partitions with an offset, from memory, without a request to Kafka."""
        ...

    def lag(self, name: str, *, ages: bool) -> list[Json]:
        """How far each source partition is behind, fields of PartitionLag; ages: with times. NotFoundError, BadRequestError."""
        ...

    def alter_offsets(self, name: str, changes: list[OffsetChange]) -> str:
        """Set, or with None remove, offsets of a stopped connector; returns the message. BadRequestError."""
        ...

    def reset_offsets(self, name: str) -> str:
        """Forget all offsets; returns the message. BadRequestError."""
        ...

    def validate(self, plugin: str, config: Config) -> Json:
        """The body of PUT /connector-plugins/{plugin}/config/validate; BadRequestError, ConfigError."""
        ...

    def plugin_config(self, plugin: type[Any]) -> list[Json]:
        """The body of GET /connector-plugins/{plugin}/config: all option definitions of a registered plugin class."""
        ...

    def set_cluster_log_level(self, namespace: str, level: str) -> None:
        """Write a log level to the config topic; every worker that reads it there calls its listeners."""
        ...

    def on_log_level(self, listener: Callable[[str, str], None]) -> None:
        """Call `listener(namespace, level)` for each log level read from the config topic."""
        ...
