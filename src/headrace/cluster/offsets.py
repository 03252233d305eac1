"""Reading, altering and resetting the stored offsets of source connectors (KIP-875)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from headrace.cluster.state import ClusterState
from headrace.cluster.stores import WorkerStores
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import SourceConnector, SourceOffset, SourcePartition
from headrace.errors import BadRequestError, ConnectError, NotFoundError
from headrace.kafka.group_transactions import GroupMetadata
from headrace.retry import poll_until

Changes = Sequence[tuple[SourcePartition, SourceOffset | None]]

ANSWER_TIMEOUT_S = 5.0
"""Time-out of reading offsets from a cluster that may be unavailable."""

_PAUSE_S = 0.05

_MANAGED_ELSEWHERE = (
    "The Connect framework-managed offsets for this connector have been {} successfully. However, if this connector manages "
    "offsets externally, they will need to be manually {} in the system that the connector uses."
)


class AlterableOffsets(Protocol):
    """The part of the offset store that reads and alters offsets."""

    def all(self, connector: str, answer_s: float | None = ...) -> list[tuple[SourcePartition, SourceOffset]]: ...  # noqa: D102
    def put(self, connector: str, offsets: Changes, group_metadata: GroupMetadata) -> None: ...  # noqa: D102


class SourceOffsets:
    """The offset requests of the REST API, for source connectors."""

    def __init__(self, store_of: Callable[[Mapping[str, Any]], AlterableOffsets], group_metadata: GroupMetadata) -> None:
        """store_of: returns the store for a connector's configuration; group_metadata: of this worker's membership."""
        self._store_of, self._group_metadata = store_of, group_metadata

    def read(self, name: str, config: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The `offsets` of `GET /connectors/{name}/offsets`."""
        return [{"partition": dict(p), "offset": dict(o)} for p, o in self._store_of(config).all(name, ANSWER_TIMEOUT_S)]

    def lag(self, config: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]], ages: bool) -> list[dict[str, Any]]:
        """The lag of the partitions of a connector's source. Raises BadRequestError if its class cannot compute it.

        config, tasks: configurations of the connector and its tasks.
        """
        name, cls = config["name"], connector_class(config)
        stored = [(p, o) for p, o in self._store_of(config).all(name, ANSWER_TIMEOUT_S) if p is not None]
        lags = cls.lag(config, tasks, stored, ages=ages) if issubclass(cls, SourceConnector) else None
        if lags is None:
            raise BadRequestError(f"{cls.__name__}, the class of connector {name}, cannot tell how far it is behind its source.")
        return [asdict(lag) for lag in lags]

    def alter(self, name: str, config: Mapping[str, Any], changes: Sequence[tuple[Any, Any]]) -> str:
        """Write changes, (partition, offset or None), after the connector class has validated them; returns the message.

        Raises ConnectError for offsets that cannot be stored, or that the connector class refuses.
        """
        for partition, offset in changes:
            _require_primitives(partition)
            _require_primitives(offset)
        managed = connector_class(config).alter_offsets(config, changes)
        if any(partition is None for partition, _ in changes):  # unless the class has said so in its own words
            raise ConnectError("Partition objects cannot be null")
        self._store_of(config).put(name, changes, self._group_metadata)
        return done_message("altered", managed)

    def reset(self, name: str, config: Mapping[str, Any]) -> str:
        """Remove every offset; returns the message. Raises ConnectError."""
        changes = [(partition, None) for partition, _ in self._store_of(config).all(name)]
        managed = connector_class(config).alter_offsets(config, changes)
        self._store_of(config).put(name, changes, self._group_metadata)
        return done_message("reset", managed)


def require_stopped(name: str, state: ClusterState) -> None:
    """Raise NotFoundError without the connector, BadRequestError unless it is STOPPED and is to have no tasks."""
    if name not in state.connectors:
        raise NotFoundError(f"Connector {name} not found")
    if state.target_state(name) != "STOPPED" or state.task_configs(name):
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
        )


def await_end_of_tasks(action: str, name: str, kind: str, stores: WorkerStores, timeout_s: float) -> None:
    """Wait until the tasks of a stopped connector have ended, which store offsets at their end.

    The status of a task is removed when it has ended. action: `alter` or `reset`. Raises ConnectError, also if the connector was
    resumed meanwhile, as any worker may do.
    """
    ended = poll_until(lambda _left_s: not stores.status.tasks(name), timeout_s, _PAUSE_S)
    stores.config.refresh()
    try:
        require_stopped(name, stores.config.snapshot())
    except BadRequestError as error:
        raise in_use(action, name, kind) from error
    if not ended:
        raise in_use(action, name, kind)


def in_use(action: str, name: str, kind: str) -> ConnectError:
    """The error, in Kafka Connect's words, for offsets that tasks may still store. action: `alter` or `reset`."""
    return ConnectError(
        f"Failed to {action} {'consumer group' if kind == 'sink' else 'source'} offsets for connector {name} either because its "
        f"tasks haven't stopped completely yet or the connector was resumed before the request to {action} its offsets could be "
        "successfully completed. If the connector is in a stopped state, this operation can be safely retried. If it doesn't "
        f"eventually succeed, the Connect cluster may need to be restarted to get rid of the zombie {kind} tasks."
    )


def done_message(done: str, managed: bool) -> str:
    """The message after a change of offsets; done: `altered` or `reset`; managed: whether Connect stores all the connector's
    offsets.
    """
    return f"The offsets for this connector have been {done} successfully" if managed else _MANAGED_ELSEWHERE.format(done, done)


def _require_primitives(fields: SourcePartition | SourceOffset | None) -> None:
    for key, value in (fields or {}).items():
        if isinstance(value, dict | list):
            kind = "MAP" if isinstance(value, dict) else "ARRAY"
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            kind = "class java.math.BigInteger"
        else:
            continue
        raise ConnectError(f"Offsets may only contain primitive types as values, but field {key} contains {kind}")
