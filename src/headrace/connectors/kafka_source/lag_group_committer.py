"""Positions written to a consumer group on the source cluster, so that lag monitors see how far the mirror is.

Never used to resume. A failure is logged and tried again, with what is newer by then. Commits happen on a thread of their own, so
that a slow source cluster never holds up delivery.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextvars import copy_context
from typing import TYPE_CHECKING

import structlog

from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin, shared

if TYPE_CHECKING:
    from headrace.connectors.kafka_source.config import KafkaSourceConfig

log = structlog.get_logger(__name__)

_TIMEOUT_S, _PAUSE_S = 10.0, 2.0
Positions = Mapping[tuple[str, int], int]


class LagGroupCommitter:
    """Commits the newest positions of a group, one commit at a time."""

    def __init__(self, admin: Admin, group: str) -> None:
        self._admin, self._group = admin, group
        self._pending: dict[tuple[str, int], int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=copy_context().run, args=(self._main,), name=f"lag-{group}", daemon=True)
        self._thread.start()

    @classmethod
    def of(cls, config: KafkaSourceConfig, consumer: Mapping[str, str]) -> LagGroupCommitter | None:
        """The configured committer; None without a group, or with auto commit off.

        consumer: settings of the Java consumer, whose login may write to the group; that of the admin client need not.
        """
        if not config.enable_auto_commit or not config.group_id:
            return None
        return cls(shared(consumer), config.group_id)

    def commit(self, positions: Positions) -> None:
        """Commit these next offsets to read; returns at once."""
        with self._changed:
            self._pending.update(positions)
            self._changed.notify()

    def close(self, timeout_s: float) -> None:
        """Commit what is pending, within `timeout_s`, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def _main(self) -> None:
        failed = False
        while True:
            with self._changed:
                if failed and not self._closed:
                    self._changed.wait(_PAUSE_S)
                self._changed.wait_for(lambda: self._pending or self._closed)
                positions, self._pending = self._pending, {}
            if not positions:
                return
            failed = not self._commit(positions)
            if failed:
                with self._changed:
                    if self._closed:
                        return
                    self._pending = positions | self._pending

    def _commit(self, positions: Positions) -> bool:
        try:
            self._admin.commit(self._group, positions, _TIMEOUT_S)
        except HeadraceError as e:
            log.warning("source.lag.commit.failed", group=self._group, cause=str(e))
            return False
        return True
