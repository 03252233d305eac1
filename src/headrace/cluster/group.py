"""The other workers: which share of the work is this one's, who leads, and how they are asked for something."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import structlog

from headrace.cluster import signatures
from headrace.cluster.assignment import NOTHING, Assignment
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.leadership import Leadership
from headrace.cluster.rebalances import Rebalances
from headrace.cluster.records import SessionKey
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.group_transactions import GroupMetadata
from headrace.kafka.membership import GroupListener, GroupSettings, Membership, Place, client_id
from headrace.retry import retry_until_stopped
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.window import Span

log = structlog.get_logger(__name__)

_FIND_S, _RETRY_S, _MEMBERS_S = 30.0, 0.5, 2.0


class Asks(Protocol):
    """How a worker sends a request to another: both return once it was answered well, and raise a HeadraceError if not."""

    def post(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None: ...  # noqa: D102
    def put(self, url: str, path: Sequence[str], body: bytes, headers: dict[str, str]) -> None: ...  # noqa: D102


class Group:
    """The group of workers, as one of them sees it. Every method may be called from any thread."""

    def __init__(
        self, config: DistributedConfig, store: ConfigStore, asks: Asks, member: str, fatal: Callable[[ConnectError], None]
    ) -> None:
        """member: this worker's name in the group, unique in it and the same after a restart; fatal: called if it is fenced."""
        self._config, self._store, self._asks, self._fatal = config, store, asks, fatal
        props = config.internal_client_props()
        settings = GroupSettings(
            group=config.group_id,
            topic=config.offset_topic,
            member=member,
            session_timeout_ms=config.session_timeout_ms,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            rebalance_timeout_ms=config.rebalance_timeout_ms,
        )
        self._admin = Admin(props)
        self.membership = Membership(props, settings, GroupListener(self._changed, self._lost, self._fenced))
        self._leadership: Leadership | None = None
        self._take: Callable[[Assignment], None] = lambda share: None
        self._share, self._count = NOTHING, 1
        self._placed, self._leaving = threading.Event(), threading.Event()
        self._started = False
        self._rebalances = Rebalances(Span(config.metrics_window_ms, config.metrics_samples))
        self.url = config.rest_url()

    def start(self, take: Callable[[Assignment], None], tidy: Callable[[], None]) -> None:
        """Join; `take` gets each share that comes, `tidy` is done at the beginning of a leadership. Raises ConnectError."""
        info = self._admin.describe(self._config.offset_topic, _FIND_S)
        self._count = len(info.partitions) if info else 1
        self._take = take
        self._leadership = Leadership(self._config, self._store, self.membership, tidy, self.url)
        self.membership.join()

    def measure(self, metrics: Metrics) -> None:
        """Show the rebalances; the leader's name where this worker leads."""
        self._rebalances.show(metrics, self._config.connect_protocol.lower(), lambda: self.url if self.leads() else None)

    def stop(self) -> None:
        """Leave."""
        self._leaving.set()
        if self._leadership:
            self._leadership.lead(False)
        self.membership.leave()

    def ready(self) -> bool:
        """Whether this worker has known its share, and become the leader if it had to; a later change does not count."""
        self._started = self._started or (self._placed.is_set() and (not self._share.leads or self.leads()))
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

    def place(self) -> dict[str, Any]:
        """This worker's share of the work, and whether it leads."""
        return self._share.json() | {"leader": self.leads()}

    def workers(self) -> list[str]:
        """The ids of the workers that the brokers count as members now. Raises KafkaFailure."""
        start, ids = client_id(""), []
        for name, _ in self._admin.group_members(self._config.group_id, _MEMBERS_S):
            if name.startswith(start):
                ids.append(name.removeprefix(start).rpartition("@")[0])
        return sorted(ids)

    def leader_url(self) -> str | None:
        """Where the leader is reached, None if that is not known at the moment, or would be this worker."""
        url = self._leadership.leader_url() if self._leadership else None
        return url if url != self.url else None

    def worker_url(self, worker_id: str) -> str:
        """Where the worker of this id (host:port) is reached: workers of one group speak one scheme."""
        return f"{self.url.partition('://')[0]}://{worker_id}/"

    def submit_task_configs(self, name: str, configs: Sequence[dict[str, str]], key: SessionKey | None) -> None:
        """Send the task configurations of a connector to the leader. Raises RetriableError if there is none, or it refuses."""
        body = json.dumps(list(configs)).encode()
        url, headers = self._to_leader(body, key)
        self._asks.post(url, ["connectors", name, "tasks"], body, headers)

    def fence(self, name: str, key: SessionKey | None) -> None:
        """Have the leader fence off former tasks of a connector. Raises RetriableError if there is none, or it refuses."""
        url, headers = self._to_leader(b"", key)
        self._asks.put(url, ["connectors", name, "fence"], b"", headers)

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
        share = Assignment(place.slots, self._count, place.generation)
        log.info("group.share", generation=share.generation, slots=len(share.slots), of=share.count, leader=share.leads)
        with self._rebalances.measured(share.generation):
            if share.slots - self._share.slots:
                self._read_to_end()
            self._adopt(share)
        self._placed.set()

    def _read_to_end(self) -> None:
        """Read the config topic to its end: the configurations that this assignment is about are known from here on."""
        timeout_s = self._config.worker_sync_timeout_ms / 1000
        retry_until_stopped(lambda: self._store.refresh(timeout_s), self._leaving, _RETRY_S, "group.config-topic.retry")

    def _lost(self, place: Place) -> None:
        log.warning("group.lost", meaning="everything that runs here is ended; another worker may have taken it over")
        self._adopt(NOTHING)

    def _fenced(self, error: ConnectError) -> None:
        self._adopt(NOTHING)
        self._fatal(error)

    def _adopt(self, share: Assignment) -> None:
        self._share = share
        if self._leadership:
            self._leadership.lead(share.leads)
        self._take(share)
