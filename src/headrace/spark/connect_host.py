"""The Python side of the host of Kafka Connect's plugins in Spark's JVM: methods with JSON requests and responses.

The plugins see Kafka Connect's classes, and none of Spark's. Their requests to the worker (new task configurations, stored
offsets) are fetched by one thread and handled by others, so that no plugin waits for another.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import structlog

from headrace.background import in_background
from headrace.config import Password
from headrace.config.redaction import maskable
from headrace.errors import ConnectError, RetriableError
from headrace.jvm.jars import connect_classpath
from headrace.jvm.output import hide
from headrace.retry import Backoff
from headrace.spark import plugin_log_levels
from headrace.spark.plane import in_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_EVENT_WAIT_MS = 10_000
_THREADS = 8
_RETRY_S = 1.0
_CACHE_S = 1.0


class PluginError(ConnectError):
    """An exception of a plugin: `java_class` is its class, `java_trace` its stack trace."""

    def __init__(self, failure: Mapping[str, Any]) -> None:
        """failure: `class`, `message` and `trace`."""
        super().__init__(failure["message"])
        self._failure = failure
        self.java_class = failure["class"]  # type: ignore[misc]
        self.java_trace = failure["trace"]

    def without(self, secrets: Iterable[str]) -> PluginError:
        """The error without these texts (`maskable`)."""
        shown = dict(self._failure)
        for secret in maskable(secrets):
            for part in ("message", "trace"):
                shown[part] = shown[part].replace(secret, Password.HIDDEN)
        return type(self)(shown)


@contextmanager
def hiding(secrets: Collection[str]) -> Iterator[None]:
    """Context in which these texts are hidden in errors of plugins; their later log lines hide them, too."""
    hide(secrets)
    try:
        yield
    except PluginError as error:
        raise error.without(secrets) from None


@dataclass(frozen=True)
class HostListener:
    """Handles the requests of a hosted connector or task."""

    reconfigure: Callable[[], None]
    """Called when the connector requests task reconfiguration."""
    failed: Callable[[str], None]
    """Called with a stack trace when the connector has failed."""
    offsets: Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any] | None]]
    """Returns the stored offsets of these source partitions, in their order."""
    store: Callable[[Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]], None] | None = None
    """Returns once these offsets of a source task are stored; None: the task's records are delivered by Spark."""


_LISTENERS: dict[str, HostListener] = {}  # by id of connector or task
_following = threading.Event()


class PluginHost(ABC):
    """A host of plugins: requests to it, and requests of its plugins to the worker."""

    _metrics: tuple[float, Sequence[Mapping[str, Any]]] = (-math.inf, ())
    """Time of the last request, and its response."""

    @abstractmethod
    def exchange(self, method: str, request: str) -> str:
        """The response to a request, both as JSON."""

    def release(self) -> None:  # noqa: B027 - that in the JVM of Spark has no users of its own
        """Release the host; called once by each connector or task that has acquired it."""

    def read_rows_here(self, task: str) -> None:  # noqa: B027 - rows of the JVM of Spark need nothing
        """Prepare Spark for reading the records of a source task of this host."""

    def ask(self, method: str, **request: Any) -> Any:
        """The response to a request. Raises PluginError for an exception of a plugin."""
        response = json.loads(self.exchange(method, json.dumps(request)))
        if "error" in response:
            raise PluginError(response["error"])
        return response["answer"]

    def metrics(self) -> Sequence[Mapping[str, Any]]:
        """The plugins' own metrics (KIP-877): `name`, `value` and `tags`, with `connector` and `task`.

        Cached for a second, as they are read for each task. Raises as `ask`.
        """
        read_at, metrics = self._metrics
        if time.monotonic() - read_at >= _CACHE_S:
            metrics = [{**metric, "value": float(metric["value"])} for metric in self.ask("metrics")]
            self._metrics = time.monotonic(), metrics
        return metrics

    def listen(self, id: str, listener: HostListener) -> None:
        """Set the listener for requests of the connector or task with this id."""
        _LISTENERS[id] = listener

    def forget(self, id: str) -> None:
        """Remove the listener."""
        _LISTENERS.pop(id, None)

    def failed(self, id: str, trace: str) -> None:
        """Notify the listener of a connector that it has failed."""
        listener = _LISTENERS.get(id)
        if listener is not None:
            listener.failed(trace)

    def follow(self) -> None:
        """Handle requests of plugins until the host ends; raises its error then."""
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="plugin-answers") as executor:
            while True:
                event = self.ask("event", wait=_EVENT_WAIT_MS)
                if event is not None:
                    executor.submit(self._dispatch, event, executor).add_done_callback(_report)

    def _dispatch(self, event: Mapping[str, Any], executor: ThreadPoolExecutor) -> None:
        listener = _LISTENERS.get(event["id"])
        if event["kind"] in ("offsets", "store"):
            try:
                self._respond(event, listener)
            except RetriableError as error:
                # As in Kafka Connect whoever asks for offsets waits until brokers answer, but not on one of these few threads.
                log.warning("plugins.offsets.retried", id=event["id"], cause=str(error))
                in_background(lambda: self._dispatch_later(event, executor), "plugin-answers-later")
        elif listener is not None and event["kind"] == "reconfigure":
            listener.reconfigure()
        elif listener is not None:
            listener.failed(event["text"])

    def _dispatch_later(self, event: Mapping[str, Any], executor: ThreadPoolExecutor) -> None:
        time.sleep(_RETRY_S)
        executor.submit(self._dispatch, event, executor).add_done_callback(_report)  # refused once the host has ended

    def _respond(self, event: Mapping[str, Any], listener: HostListener | None) -> None:
        """Answer a request; raises RetriableError, without an answer, if stored offsets cannot be read yet."""
        response: list[str] = []
        error = None if listener is not None else "the connector or task has ended"
        try:
            if listener is not None and event["kind"] == "offsets":
                response = [json.dumps(offset) for offset in listener.offsets([json.loads(text) for text in event["asked"]])]
            elif listener is not None and listener.store is not None:
                listener.store([(json.loads(key)[1], json.loads(value)) for key, value in event["asked"]])
        except Exception as e:  # errors of the store are passed to the plugin
            if event["kind"] == "offsets" and isinstance(e, RetriableError):
                raise
            error = str(e)
        self.ask("offsets", number=event["number"], offsets=response, error=error)


class ConnectHost(PluginHost):
    """The host in the JVM of a Spark session, opened at the first request."""

    def __init__(self, spark: Callable[[], SparkSession], scan: Mapping[str, Any]) -> None:
        """spark: the process's session; scan: `locations` and `newest`, as the host's method `plugins` takes them."""
        self.spark, self.scan = spark, scan
        self._opening = threading.Lock()
        self._java: Any = None

    def exchange(self, method: str, request: str) -> str:
        """The response to a request, both as JSON."""
        return self._opened().ask(method, request)

    @property
    def java(self) -> Any:
        """The class `ConnectHost` of the session's JVM."""
        return self.spark()._jvm.io.headrace.ConnectHost  # pyright: ignore

    @property
    def in_executors(self) -> bool:
        """Whether Spark's tasks run in executor processes."""
        return not in_driver(self.spark().sparkContext.master or "")

    @property
    def executors(self) -> Any:
        """The class `ExecutorHosts` of the session's JVM, which knows the hosts in executors."""
        self._opened()
        return self.spark()._jvm.io.headrace.hosts.ExecutorHosts  # pyright: ignore

    def _opened(self) -> Any:
        with self._opening:
            if self._java is None:
                java = self.java
                java.open(os.pathsep.join(map(str, connect_classpath())))
                java.ask("plugins", json.dumps(self.scan))
                if self.in_executors:
                    hosts: Any = self.spark()._jvm.io.headrace.hosts.ExecutorHosts  # pyright: ignore
                    jars = [jar.absolute().as_uri() for jar in connect_classpath()]
                    log4j = (files("headrace.spark") / "log4j2.properties").read_text()
                    hosts.offer(jars, json.dumps(self.scan, ensure_ascii=False), log4j)
                    plugin_log_levels.follow(hosts, lambda name, level: hosts.level(name, _level(name, level)))
                self._java = java
                plugin_log_levels.follow(self, lambda name, level: java.ask("level", _level(name, level)))
                if not _following.is_set():
                    _following.set()
                    threading.Thread(target=self._follow, name="plugin-events", daemon=True).start()
            return self._java

    def _follow(self) -> None:
        """Handle requests of plugins until the session ends; they wait for it, so an error of the host itself is survived."""
        retry = Backoff(0.25, 10.0)
        while True:
            try:
                self.follow()
            except PluginError as error:
                log.warning("plugins.events.retried", cause=f"{error.java_class}: {error}")
                time.sleep(retry.failed())
            except Exception as e:  # the session has ended
                log.debug("plugins.events.end", cause=str(e))
                _following.clear()
                return


def _report(request: Future[None]) -> None:
    """Log the error of a request of a plugin that could not be handled."""
    error = request.exception()
    if error is not None:
        log.error("plugins.request.failed", cause=f"{type(error).__name__}: {error}")


def _level(logger: str, level: str) -> str:
    """The request of the host's method `level`."""
    return json.dumps({"name": logger, "level": level})
