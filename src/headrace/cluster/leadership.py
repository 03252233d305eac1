"""The leadership of a worker: the leader alone writes configurations, distributes session keys, and publishes its URL.

The worker with the group's last slot leads. It first fences the previous leader (a transactional producer with the same id,
KIP-618), reads the config topic to its end, and publishes its URL in the group for every member.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

import structlog

from headrace.cluster import signatures
from headrace.cluster.config_store import ConfigStore
from headrace.errors import HeadraceError, RetriableError
from headrace.retry import retry_until_stopped
from headrace.runtime.distributed_config import DistributedConfig
from headrace.values.times import now_ms

log = structlog.get_logger(__name__)

_RETRY_S, _REQUEST_TIMEOUT_S, _POLL_INTERVAL_S, CHECK_URL_S = 1.0, 5.0, 1.0, 60.0


class Announcements(Protocol):
    """The part of the membership that publishes the leader's URL."""

    def announce(self, text: str, timeout_s: float, void: threading.Event) -> None: ...  # noqa: D102
    def announced(self, timeout_s: float) -> str | None: ...  # noqa: D102


class Leadership:
    """Leads from `lead(True)` to `lead(False)`. `established` is set while this worker is the leader and may write."""

    def __init__(
        self, config: DistributedConfig, store: ConfigStore, group: Announcements, on_leadership: Callable[[], None], url: str
    ) -> None:
        """on_leadership: called at the beginning of each leadership, after the config topic is read; url: of this worker."""
        self._config, self._store, self._group, self._on_leadership = config, store, group, on_leadership
        self._lock = threading.Lock()
        self._term: threading.Event | None = None  # set when the term ends
        self.url = url
        self.established = threading.Event()

    def lead(self, is_leader: bool) -> None:
        """Start or stop leading; returns at once."""
        with self._lock:
            if is_leader and self._term is None:
                self._term = threading.Event()
                threading.Thread(target=self._main, args=(self._term,), name="leader", daemon=True).start()
            elif not is_leader and self._term is not None:
                self._term.set()
                self._term = None
                self.established.clear()

    def leader_url(self) -> str | None:
        """The leader's URL, None if it is unknown now."""
        try:
            return self._group.announced(_REQUEST_TIMEOUT_S)
        except HeadraceError as error:
            log.debug("leader.unknown", cause=str(error))
            return None

    def _main(self, term: threading.Event) -> None:
        retry_until_stopped(lambda: self._lead(term), term, _RETRY_S, "leader.retry")

    def _lead(self, term: threading.Event) -> None:
        self._begin(term)
        check_at = time.monotonic() + CHECK_URL_S
        while not term.wait(_POLL_INTERVAL_S):
            if not self._store.may_write():
                raise RetriableError(
                    "A write to the config topic failed, and with it the write privileges; they are claimed again"
                )
            self._renew_key()
            if time.monotonic() >= check_at:
                self._check_url(term)
                check_at = time.monotonic() + CHECK_URL_S

    def _check_url(self, term: threading.Event) -> None:
        """Publish the URL again if the group has another one or none: every request would go to the wrong worker."""
        try:
            url = self._group.announced(_REQUEST_TIMEOUT_S)
        except HeadraceError as error:
            log.debug("leader.unknown", cause=str(error))
            return
        if url != self.url and not term.is_set():
            log.warning("leader.url.wrong", url=url, hint="published again")
            self._group.announce(self.url, _REQUEST_TIMEOUT_S, term)

    def _begin(self, term: threading.Event) -> None:
        # Each step may take long, and the term end meanwhile: another worker may have become the leader then.
        if self.established.is_set():  # only a member can announce; one that was lost unnoticed must not fence others
            self._group.announce(self.url, _REQUEST_TIMEOUT_S, term)
        if term.is_set():
            return
        self._store.claim_write_privileges()
        self._store.refresh()
        if term.is_set():
            return
        self._renew_key()
        self._group.announce(self.url, _REQUEST_TIMEOUT_S, term)
        with self._lock:
            if term.is_set():
                return
            self.established.set()
        log.info("leader.established", url=self.url)
        self._on_leadership()

    def _renew_key(self) -> None:
        if signatures.expires_ms(self._store.snapshot().session_key, self._config) <= now_ms():
            self._store.put_session_key(signatures.new_key(self._config))
