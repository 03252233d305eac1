"""Adapters of connectors in Java: each call is a call of the Java class, as in Kafka Connect."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any, ClassVar

import structlog

from headrace.background import in_background
from headrace.connect_config.engine import heap
from headrace.connectors.base import (
    ConnectorContext,
    Measured,
    Props,
    SourceConnector,
    SourceOffset,
    SourcePartition,
    TaskContext,
)
from headrace.connectors.java.kafka_task import JavaTask
from headrace.connectors.java.polled_task import JavaPolledTask
from headrace.connectors.sink import SinkConnector, TopicPartition
from headrace.errors import ConnectError
from headrace.spark import executor_host, host_process
from headrace.spark.connect_host import HostListener, PluginError, PluginHost, hiding
from headrace.spark.host_process import ProcessSettings
from headrace.spark.java_plugin import JavaPlugin, plugin_metrics

log = structlog.get_logger(__name__)

_LOOK_S, _STOP_S = 0.1, 5.0


class JavaConnector(JavaPlugin):
    """Base of source and sink connectors in Java."""

    task_base: ClassVar[type[Any]]

    @classmethod
    def of_class(cls, name: str, attributes: Mapping[str, Any]) -> type[Any]:
        """The adapter of one Java class, with that of its tasks."""
        adapter = super().of_class(name, attributes)
        adapter.task_class = cls.task_base.of(adapter)
        return adapter

    @classmethod
    def host_for(cls, connector: str, heap: str | None) -> PluginHost:
        """Where a connector of this class runs, until it is released: in a JVM of its own if it has a heap of its own.

        Raises SetupError if that does not start.
        """
        return cls.host if heap is None else host_process.acquire(ProcessSettings(connector, heap), cls.host)

    @classmethod
    def host_for_task(cls, context: TaskContext, heap: str | None) -> PluginHost:
        """Where a task runs that Kafka Connect's own classes run, until it is released: on an executor, if they are processes.

        Raises ConnectError if no executor answers, or the task is stopped before that, and as `host_for`.
        """
        if heap is None and cls.host.in_executors:
            return executor_host.acquire(context.connector, cls.host, context.stopping)
        return cls.host_for(context.connector, heap)

    @classmethod
    def measures(cls, connector: str, task: int, host: PluginHost) -> list[Measured]:
        """The own metrics of a task's plugins (KIP-877); the first task includes the connector's.

        host: of the task; its metrics are left out if it does not answer.
        """
        hosts = {host, *(host_process.running(connector) or [cls.host])} if task == 0 else {host}
        numbers = {str(task), None} if task == 0 else {str(task)}
        return [measured for host in hosts for measured in plugin_metrics(host, connector, numbers)]

    @classmethod
    def _agreed(cls, config: Props, changes: Sequence[Sequence[Any]]) -> bool:
        """The class's result for offsets to alter. Raises ConnectError for invalid ones."""
        try:
            return cls.ask_about("alterOffsets", config, changes=changes)
        except PluginError as error:  # Kafka Connect's sentence does not say why
            log.error("plugin.offsets.refused", plugin=cls.plugin_name, trace=error.java_trace)
            raise ConnectError(error.message) from error

    def __init__(self, context: ConnectorContext) -> None:
        super().__init__(context)  # type: ignore[call-arg]
        self.context = context
        self._id = f"{context.name}@{uuid.uuid4().hex[:12]}"
        self._passwords: list[str] = []
        self._host: PluginHost = self.host

    def start(self, props: Props) -> None:
        """Start an instance of the class. Raises PluginError for what it throws."""
        self._host = self.host_for(self.context.name, heap(props))
        listener = HostListener(self.context.request_reconfiguration, self._failed, self.context.stored)
        self._host.listen(self._id, listener)
        request = {"class": self.plugin_name, "location": self.location, "name": self.context.name, "props": dict(props)}
        self._passwords = self.passwords(props)
        self._topics = {name: props[name] for name in ("topics", "topics.regex") if name in props}
        with hiding(self._passwords):
            self._task_class = self._unless_stopping("connector.start", **request)

    @property
    def task_class_name(self) -> str:
        """The Java class of its tasks."""
        return self._task_class

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """What the instance says, and its topics, which tasks get whether or not it passes them on, also those of a source."""
        with hiding(self._passwords):
            configs = self._unless_stopping("connector.taskConfigs", most=max_tasks)
        return [{**config, **self._topics} for config in configs]

    def _unless_stopping(self, method: str, **request: Any) -> Any:
        """The response of the instance. Raises ConnectError once the connector is to stop: the call is left behind then."""
        host, id = self._host, self._id
        call = in_background(lambda: host.ask(method, id=id, **request), f"plugin-{self.context.name}")
        while not call.done():
            wait([call], _LOOK_S)
            if self.context.stopping.is_set() and not call.done():
                raise ConnectError(f"Connector {self.context.name} was stopped before {self.plugin_name} returned ({method}).")
        return call.result()

    def stop(self) -> None:
        """Stop the instance; one that takes longer than 5 s is left behind, as in Kafka Connect.

        Raises PluginError for what it throws then.
        """
        host, id = self._host, self._id
        call = in_background(lambda: host.ask("connector.stop", id=id), f"plugin-{self.context.name}")
        try:
            with hiding(self._passwords):
                call.result(_STOP_S)
        except TimeoutError:
            log.warning("plugin.stop.left-behind", plugin=self.plugin_name, limit_s=_STOP_S)
            host.ask("connector.cancel", id=id)
        finally:
            self._host.forget(self._id)
            self._host.release()
            self._host = self.host

    def _failed(self, trace: str) -> None:
        first = trace.partition("\n")[0]
        name, _, message = first.partition(": ")
        error = PluginError({"class": name, "message": message, "trace": trace})
        self.context.raise_error(error.without(self._passwords))


class JavaSourceConnector(JavaConnector, SourceConnector):
    """A source connector in Java."""

    task_base = JavaPolledTask

    @classmethod
    def exactly_once_support(cls, props: Props) -> bool | None:
        """The class's validation of this configuration."""
        return cls.ask_about("exactlyOnce", props)

    @classmethod
    def defines_transactions(cls, props: Props) -> bool:
        """The class's validation of this configuration."""
        return bool(cls.ask_about("definesTransactions", props))

    @classmethod
    def alter_offsets(cls, config: Props, changes: Sequence[tuple[SourcePartition, SourceOffset | None]]) -> bool:
        """The result of the class; it raises ConnectError for invalid offsets."""
        return cls._agreed(config, [[json.dumps(partition), json.dumps(offset)] for partition, offset in changes])


class JavaSinkConnector(JavaConnector, SinkConnector):
    """A sink connector in Java."""

    task_base = JavaTask

    @classmethod
    def alter_offsets(cls, config: Props, offsets: Mapping[TopicPartition, int | None]) -> bool:
        """The result of the class; it raises ConnectError for invalid offsets."""
        return cls._agreed(config, [[topic, partition, offset] for (topic, partition), offset in offsets.items()])
