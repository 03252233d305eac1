"""The group of workers: this worker's assignment, the leader, and requests to other workers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import structlog

from headrace.cluster import signatures
from headrace.cluster.assignment import NOTHING, Assignment, slot_count
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.leadership import Leadership
from headrace.cluster.rebalances import Rebalances
from headrace.cluster.records import SessionKey
from headrace.errors import ConnectError, HeadraceError, RetriableError
from headrace.kafka.admin import shared
from headrace.kafka.group_transactions import GroupMetadata
from headrace.kafka.membership import GroupListener, GroupSettings, Membership, Place, client_id
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.window import Span

log = structlog.get_logger(__name__)

_TOPIC_TIMEOUT_S, _MEMBERS_TIMEOUT_S = 30.0, 2.0


class WorkerRequests(Protocol):
    """Requests from worker to worker: both methods return after a successful response, and raise a HeadraceError otherwise."""

    def post(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None: ...  # noqa: D102
    def put(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None: ...  # noqa: D102


class Group:
    """The group of workers, on one of them. Every method may be called from any thread."""

    def __init__(
        self,
        config: DistributedConfig,
        store: ConfigStore,
        requests: WorkerRequests,
        member: str,
        fatal: Callable[[ConnectError], None],
    ) -> None:
        """member: this worker's name in the group, unique in it and the same after a restart; fatal: called if it is fenced."""
        self._config, self._store, self._requests, self._fatal = config, store, requests, fatal
        props = config.internal_client_props()
        settings = GroupSettings(
            group=config.group_id,
            topic=config.offset_topic,
            member=member,
            session_timeout_ms=config.session_timeout_ms,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
        )
        self._admin = shared(props)
        self.membership = Membership(props, settings, GroupListener(self._changed, self._lost, self._fenced, self._polled))
        self._leadership: Leadership | None = None
        self._on_assignment: Callable[[Assignment], None] = lambda assignment: None
        self._assignment, self._count = NOTHING, 1
        self._waiting: Assignment | None = None  # with slots added, until the config topic can be read
        self._assigned = threading.Event()
        self._started = False
        self._rebalances = Rebalances(Span(config.metrics_window_ms, config.metrics_samples))
        self.url = config.rest_url()

    def start(self, on_assignment: Callable[[Assignment], None], on_leadership: Callable[[], None]) -> None:
        """Join the group. Raises ConnectError.

        on_assignment: takes each new assignment; on_leadership: called when this worker becomes the leader.
        """
        self._count = self._slot_count()
        self._on_assignment = on_assignment
        self._leadership = Leadership(self._config, self._store, self.membership, on_leadership, self.url)
        self.membership.join(self._count)

    def _slot_count(self) -> int:
        """How many slots the group uses. Raises ConnectError."""
        topic = self._config.offset_topic
        info = self._admin.describe(topic, _TOPIC_TIMEOUT_S)
        if info is None:
            raise ConnectError(f"Topic '{topic}', whose partitions are shared among the workers, does not exist any more.")
        count = slot_count(len(info.partitions), self.membership.announced_slot_count(_TOPIC_TIMEOUT_S))
        if count != len(info.partitions):
            meaning = "they were added while the group had the others; it uses all of them once the group is deleted"
            log.info("group.slots", topic=topic, partitions=len(info.partitions), used=count, meaning=meaning)
        return count

    def measure(self, metrics: Metrics) -> None:
        """Register the metrics of rebalances; the leader's name is shown on the leader only."""
        self._rebalances.show(metrics, self._config.connect_protocol.lower(), lambda: self.url if self.leads() else None)

    def stop(self) -> None:
        """Stop being a member; the work is reassigned after the session time-out."""
        if self._leadership:
            self._leadership.lead(False)
        self.membership.leave()

    def ready(self) -> bool:
        """Whether this worker has had its first assignment, and become the leader if it had to; stays true afterwards."""
        self._started = self._started or (self._assigned.is_set() and (not self._assignment.leads or self.leads()))
        return self._started

    def group_metadata(self) -> bytes | None:
        """The group metadata of this worker, which proves its membership; None without one."""
        return self.membership.group_metadata()

    def session(self) -> GroupMetadata:
        """A function that returns the group metadata until this membership is lost, and None from then on."""
        return self.membership.session()

    def leads(self) -> bool:
        """Whether this worker is the leader, and may write as such."""
        return self._leadership is not None and self._leadership.established.is_set()

    def assignment_body(self) -> dict[str, Any]:
        """This worker's assignment, and whether it is the leader."""
        return self._assignment.json() | {"leader": self.leads()}

    def workers(self) -> list[str]:
        """The ids of the workers that are members of the group now. Raises KafkaFailure."""
        start, ids = client_id(""), []
        for name, *_ in self._admin.group_members(self._config.group_id, _MEMBERS_TIMEOUT_S):
            if name.startswith(start):
                ids.append(name.removeprefix(start).rpartition("@")[0])
        return sorted(ids)

    def leader_url(self) -> str | None:
        """The leader's URL; None if it is unknown now, or is this worker's."""
        url = self._leadership.leader_url() if self._leadership else None
        return url if url != self.url else None

    def worker_url(self, worker_id: str) -> str:
        """The URL of a worker by id (host:port): all workers of a group use one scheme."""
        return f"{self.url.partition('://')[0]}://{worker_id}/"

    def submit_task_configs(self, name: str, configs: Sequence[dict[str, str]], key: SessionKey | None) -> None:
        """Send the task configurations of a connector to the leader. Raises RetriableError without a leader, or if it refuses."""
        body = json.dumps(list(configs)).encode()
        url, headers = self._to_leader(body, key)
        self._requests.post(url, ["connectors", name, "tasks"], body, headers)

    def fence(self, name: str, key: SessionKey | None) -> None:
        """Request from the leader to fence earlier tasks of a connector.

        Raises RetriableError without a leader, or if it refuses.
        """
        url, headers = self._to_leader(b"", key)
        self._requests.put(url, ["connectors", name, "fence"], b"", headers)

    def _to_leader(self, body: bytes, key: SessionKey | None) -> tuple[str, dict[str, str]]:
        url = self.leader_url()
        if url is None or key is None:
            raise RetriableError("The leader of the group is not known at the moment.")
        return url, signatures.sign(body, key, self._config.signature_algorithm)

    def verify(self, body: bytes, headers: Mapping[str, str], key: SessionKey | None) -> None:
        """Raise BadRequestError or RestError unless a request was signed by a worker of the group."""
        signatures.verify(body, headers, key, self._config)

    # ------------------------------------------------------------------------------------- on the membership's thread
    def _changed(self, place: Place) -> None:
        used = frozenset(slot for slot in place.slots if slot < self._count)  # the others are of partitions added later
        assignment = Assignment(used, self._count, place.generation)
        log.info(
            "group.share",
            generation=assignment.generation,
            slots=len(assignment.slots),
            of=assignment.count,
            leader=assignment.leads,
        )
        added, revoked = used - self._assignment.slots, self._assignment.slots - used
        if revoked or not added:
            self._take(replace(assignment, slots=used - added))
        self._waiting = assignment if added else None

    def _polled(self, place: Place) -> None:
        """Adopt slots that were added once the config topic can be read to its end: then their configurations are known.

        The membership polls between the attempts, as it is lost without (`max.poll.interval.ms`), and learns so if it is.
        """
        if self._waiting is not None and self._has_read_to_end():
            assignment, self._waiting = self._waiting, None
            self._take(assignment)

    def _has_read_to_end(self) -> bool:
        timeout_ms = min(self._config.worker_sync_timeout_ms, self._config.rebalance_timeout_ms // 2)
        try:
            self._store.refresh(timeout_ms / 1000)
        except HeadraceError as error:
            log.warning("group.config-topic.retry", cause=str(error))
            return False
        return True

    def _take(self, assignment: Assignment) -> None:
        with self._rebalances.measured(assignment.generation):
            self._adopt(assignment)
        self._assigned.set()

    def _lost(self, place: Place) -> None:
        log.warning(
            "group.lost", meaning="all connectors and tasks of this worker are stopped; other workers may have taken them over"
        )
        self._waiting = None
        self._adopt(NOTHING)

    def _fenced(self, error: ConnectError) -> None:
        self._waiting = None
        self._adopt(NOTHING)
        self._fatal(error)

    def _adopt(self, assignment: Assignment) -> None:
        self._assignment = assignment
        if self._leadership:
            self._leadership.lead(assignment.leads)
        self._on_assignment(assignment)
