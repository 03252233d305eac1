"""Hosts of plugins in Spark's executor processes: tasks in Java are distributed over them.

They are reached by Spark's own RPC (`jvm/java/io/headrace/hosts`). A host without contact to the driver for 7 s stops its tasks;
after 12 s the driver declares it lost, and its tasks start on another executor: none runs twice.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import structlog

from headrace.errors import ConnectError
from headrace.retry import Backoff
from headrace.spark.connect_host import ConnectHost, PluginError, PluginHost

log = structlog.get_logger(__name__)

_WAIT_S = 60.0
_STABLE_S = 3.0
"""Executors of a cluster start one after the other: tasks are placed once there was no new one for this time."""
_POLL_INTERVAL_S = 0.2
_LOST = "org.apache.kafka.connect.errors.ConnectException"


class ExecutorLostError(PluginError):
    """The executor is lost: it has not answered for so long that its tasks have stopped."""


class ExecutorHost(PluginHost):
    """The host in one generation of an executor."""

    def __init__(self, id: str, machine: str, java: Any) -> None:
        """id: of executor and generation; java: the class `ExecutorHosts`."""
        self.id, self.machine, self._java = id, machine, java
        self.connectors: list[str] = []
        threading.Thread(target=self._follow, name=f"plugin-events-{id}", daemon=True).start()

    def exchange(self, method: str, request: str) -> str:
        """The response to a request, both as JSON. Raises ExecutorLostError."""
        response = self._java.ask(self.id, method, request)
        if response is None:
            message = f"Executor {self.id} at {self.machine} was cut off from the driver for too long, and its tasks have ended"
            raise ExecutorLostError({"class": _LOST, "message": message, "trace": f"{_LOST}: {message}\n"})
        return response

    def of(self, connector: str) -> PluginHost:
        """The same host for a task of this connector, until it is released."""
        return _HostOfTask(self, connector)

    def _follow(self) -> None:
        """Handle requests of plugins until the executor is lost, or the session ends; a host that cannot open yet is retried."""
        retry = Backoff(0.25, 10.0)
        while True:
            try:
                self.follow()
            except ExecutorLostError as error:  # its tasks get the error themselves
                log.info("plugins.executor.lost", executor=self.id, machine=self.machine, cause=str(error))
                return
            except PluginError as error:
                log.warning("plugins.executor.unusable", executor=self.id, machine=self.machine, cause=str(error))
                time.sleep(retry.failed())
            except Exception as error:
                log.debug("plugins.events.end", executor=self.id, cause=str(error))
                return


class _HostOfTask(PluginHost):
    """The host of one task, which counts in the host's load until it is released."""

    def __init__(self, host: ExecutorHost, connector: str) -> None:
        self._host, self._connector = host, connector
        host.connectors.append(connector)

    def exchange(self, method: str, request: str) -> str:
        return self._host.exchange(method, request)

    def release(self) -> None:
        with _PLACING:
            self._host.connectors.remove(self._connector)


_HOSTS: dict[str, ExecutorHost] = {}
_PLACING = threading.Lock()
_newest_at = 0.0  # when the last host was found


def acquire(connector: str, driver: ConnectHost, stopping: threading.Event) -> PluginHost:
    """Acquire the host with the fewest tasks, for a task of this connector.

    Raises ConnectError if no executor answers within a minute, or once the task is `stopping`.
    """
    global _newest_at
    java, until = driver.executors, time.monotonic() + _WAIT_S
    while True:
        with _PLACING:
            running = dict(java.running())
            for removed_id in _HOSTS.keys() - running.keys():
                del _HOSTS[removed_id]
            for id in running.keys() - _HOSTS.keys():
                _HOSTS[id] = ExecutorHost(id, running[id], java)
                _newest_at = time.monotonic()
            if _HOSTS and time.monotonic() - _newest_at >= _STABLE_S:
                host = min(_HOSTS.values(), key=lambda host: (len(host.connectors), host.id))
                return host.of(connector)
        if time.monotonic() > until:
            raise ConnectError(
                f"No Spark executor has answered for {_WAIT_S:.0f} s, and tasks in Java run on executors: does the cluster "
                "have any?"
            )
        if stopping.wait(_POLL_INTERVAL_S):
            raise ConnectError("The task was stopped before an executor was found for it.")
