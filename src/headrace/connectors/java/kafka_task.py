"""A task in Java that Kafka Connect's own classes run, with their own thread and clients; this class supervises it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import wait
from typing import Any, ClassVar

import structlog

from headrace.background import in_background
from headrace.config.redaction import maskable
from headrace.connectors.base import Measured, Props, TaskContext
from headrace.connectors.hosted import Conversion, HostedClients, HostedState, HostedTask
from headrace.spark.connect_host import HostListener, PluginError, PluginHost, hiding
from headrace.spark.executor_host import ExecutorLostError

log = structlog.get_logger(__name__)

_LOOK_S = 0.1
_WAIT_MS, _IDLE_WAIT_MS = 1_000, 15_000
"""A look ends so long after the first record since the one before, or after so long without any: looks are what many idle tasks
cost. What has ended a task is known at once all the same."""


class OfConnector:
    """Base of tasks in Java, with the adapter of the connector's class."""

    connector: ClassVar[Any]
    context: TaskContext
    _host: PluginHost

    @classmethod
    def of(cls, connector: Any) -> type[Any]:
        """The class of the tasks of this adapter."""
        return type(f"{connector.__name__}Task", (cls,), {"__module__": connector.__module__, "connector": connector})

    def measures(self) -> Iterable[Measured]:
        """The own metrics of its plugins."""
        return self.connector.measures(self.context.connector, self.context.task, self._host)


class JavaTask(OfConnector, HostedTask):
    """One task of a connector in Java: of a sink, or of a source that has nothing for Spark to do."""

    def __init__(self, context: TaskContext) -> None:
        super().__init__(context)
        self._id = f"{context.id}@{uuid.uuid4().hex[:12]}"
        self._started = False
        self._changing = threading.Lock()  # held while it starts or ends: it may be ended by two threads at once
        self._passwords: list[str] = []
        self._host: PluginHost = self.connector.host

    def run_with(self, conversion: Conversion, clients: HostedClients) -> None:
        """Take what reads or makes the bytes of the records, and the clients."""
        self._conversion, self._clients = conversion, clients

    def start(self, props: Props) -> None:
        """Start the Java task, and wait for it. Raises PluginError for what it throws."""
        self._props = props
        self._passwords = [*self.connector.passwords(props), *self._conversion.secrets]
        try:
            self._start_at(self.connector.host_for_task(self.context, self._conversion.heap))
        except ExecutorLostError as error:
            self._restart_on_new_executor(error)

    def _restart_on_new_executor(self, error: ExecutorLostError) -> None:
        """Restart the task on another executor: the lease of the old one, where nothing of it runs any more, has ended."""
        log.warning("plugin.task.executor-lost", task=str(self.context.id), cause=str(error))
        with self._changing:
            if self._started:
                self._release_host()
        if not self.context.stopping.is_set():
            self._id = f"{self.context.id}@{uuid.uuid4().hex[:12]}"
            self.start(self._props)

    def _start_at(self, host: PluginHost) -> None:
        with self._changing:
            if self.context.stopping.is_set():  # another worker may have its slot by now
                host.release()
                return
            self._host, self._started = host, True
            host.listen(self._id, HostListener(lambda: None, lambda _trace: None, self.context.stored, self._clients.store))
        with hiding(self._passwords):
            self._start_on(host)
            while not self.context.stopping.is_set() and not host.ask("hosted.awaitStart", id=self._id, wait=_WAIT_MS):
                pass

    def _start_on(self, host: PluginHost) -> None:
        """Create the task with its plugins, which is left behind if one of them has not returned when the task is to stop."""
        context, conversion, clients = self.context, self._conversion, self._clients
        request = {
            "id": self._id,
            "name": context.connector,
            "number": context.task,
            "class": self.connector.plugin_name,
            "location": self.connector.location,
            "props": dict(self._props),
            "key": conversion.key,
            "value": conversion.value,
            "header": conversion.header,
            "stages": conversion.stages,
            "consumer": clients.consumer,
            "producer": clients.producer,
            "admin": clients.admin,
            "secrets": maskable(self._passwords),
            "settings": clients.settings,
        }
        call = in_background(lambda: host.ask("hosted.start", **request), f"plugin-{context.id}")
        while not call.done():
            wait([call], _LOOK_S)
            if self.context.stopping.is_set() and not call.done():
                log.warning("plugin.start.left-behind", task=str(context.id))
                return
        call.result()

    def state(self, figures: Sequence[str]) -> HostedState:
        """The state of the task, a second after it had records, or after 16 without any. Raises PluginError if it failed."""
        try:
            with hiding(self._passwords):
                state = self._host.ask("hosted.state", id=self._id, wait=_WAIT_MS, idleWait=_IDLE_WAIT_MS, figures=figures)
        except ExecutorLostError as error:
            self._restart_on_new_executor(error)
            return HostedState(frozenset(), {})
        return HostedState(frozenset(state["topics"]), state["figures"])

    def end(self, timeout_s: float) -> None:
        """Stop the Java task, which commits what it has written; after so long it is left behind, and commits no more.

        Whoever calls while another thread ends it waits for that: until then its offsets are still taken.
        """
        with self._changing:
            if not self._started:
                return
            try:
                self._host.ask("hosted.stop", id=self._id, wait=int(timeout_s * 1000))
            except PluginError as error:
                log.warning("plugin.stop.failed", plugin=self.connector.plugin_name, cause=f"{error.java_class}: {error}")
            finally:
                self._release_host()

    def _release_host(self) -> None:
        self._started = False
        self._host.forget(self._id)
        self._host.release()

    def stop(self) -> None:
        """Stop a task that has failed."""
        self.end(0)
