"""A worker's place in the Kafka group of its cluster, so that nobody runs the same connectors a second time.

One worker runs a group at this stage. It is a member of the group for as long as it lives; one that finds another member there
waits for a session time-out (the other may be dead already) and then refuses to start.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from headrace.errors import SetupError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure

log = logging.getLogger(__name__)

_CALL_S, _LOOK_AGAIN_S, _GRACE_S = 10.0, 0.5, 5.0


class Membership:
    """A worker in a group. `worker_id` tells its own former self, left over from a crash, from other workers."""

    def __init__(self, props: Mapping[str, str], group: str, worker_id: str, session_timeout_ms: int) -> None:
        """props: Java settings of the worker's own clients."""
        self._group, self._client_id = group, f"headrace-{worker_id}"
        self._session_s = session_timeout_ms / 1000
        self._props = {k: v for k, v in props.items() if k not in ("group.instance.id", "group.protocol")} | {
            "group.id": group, "client.id": self._client_id, "session.timeout.ms": str(session_timeout_ms),
            "enable.auto.commit": "false",
        }  # fmt: skip
        self._admin = Admin(props)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="worker-membership", daemon=True)
        self._topic = ""

    def join(self, topic: str) -> None:
        """Become a member, subscribed to `topic` (of which nothing is read). Raises SetupError if another worker is there."""
        end, told = time.monotonic() + self._session_s + _GRACE_S, False
        while others := self._others():
            if time.monotonic() > end:
                raise SetupError(
                    f"Another worker of group '{self._group}' is running ({', '.join(sorted(others))}), and one worker runs a "
                    "group at this stage. Stop it, or give this worker a group.id and internal topics of its own."
                )
            if not told:
                log.info("Waiting for the session of %s in group '%s' to end", ", ".join(sorted(others)), self._group)
                told = True
            self._stopping.wait(_LOOK_AGAIN_S)
        self._topic = topic
        self._thread.start()

    def leave(self) -> None:
        """Leave at once, so that another worker need not wait."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_CALL_S)

    def _others(self) -> set[str]:
        try:
            found = self._admin.group_members(self._group, _CALL_S)
        except KafkaFailure as error:
            log.info("Whether another worker of group '%s' is running cannot be told: %s", self._group, error.reason)
            return set()
        return {f"{client_id} on {host}" for client_id, host in found if client_id != self._client_id}

    def _main(self) -> None:
        consumer = clients.consumer(self._props)
        # Whatever is assigned is not read: the membership is all that counts.
        consumer.subscribe([self._topic], on_assign=lambda member, _partitions: member.assign([]))
        while not self._stopping.is_set():
            consumer.poll(0.5)
        consumer.close()
