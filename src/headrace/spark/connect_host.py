"""The host of Kafka Connect's plugins in Spark's JVM, as Python asks it: a method, and JSON in both directions.

The plugins see Kafka Connect's classes, and none of Spark's. What they ask of the worker (new task configurations, stored
offsets) is fetched by one thread, and answered by others, so that no plugin waits for another.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config import Password
from headrace.config.redaction import SHORTEST
from headrace.errors import ConnectError
from headrace.jvm.jars import connect_classpath
from headrace.jvm.output import hide
from headrace.spark.plane import in_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_EVENT_WAIT_MS = 10_000
_ANSWERING = 8
_FRESH_S = 1.0


class PluginError(ConnectError):
    """What a plugin has thrown: `java_class` is its class, `java_trace` its stack trace."""

    def __init__(self, failure: Mapping[str, Any]) -> None:
        """failure: `class`, `message` and `trace`."""
        super().__init__(failure["message"])
        self._failure = failure
        self.java_class = failure["class"]  # type: ignore[misc]
        self.java_trace = failure["trace"]

    def without(self, secrets: Iterable[str]) -> PluginError:
        """The same error without these texts, but for those so short that they would be found in other words."""
        shown = dict(self._failure)
        for secret in sorted((s for s in secrets if len(s) >= SHORTEST), key=len, reverse=True):
            for part in ("message", "trace"):
                shown[part] = shown[part].replace(secret, Password.HIDDEN)
        return type(self)(shown)


@contextmanager
def hiding(secrets: Collection[str]) -> Iterator[None]:
    """Errors of plugins that are raised inside do not say these texts, and what they log from then on does not."""
    hide(secrets)
    try:
        yield
    except PluginError as error:
        raise error.without(secrets) from None


@dataclass(frozen=True)
class HostListener:
    """Who is asked by a hosted connector or task."""

    reconfigure: Callable[[], None]
    """The connector wants to make its task configurations again."""
    failed: Callable[[str], None]
    """The connector cannot continue; takes its stack trace."""
    offsets: Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any] | None]]
    """The stored offsets of these source partitions, in their order."""
    store: Callable[[Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]], None] | None = None
    """Returns once these offsets of a source task are stored; None: whoever asks delivers records otherwise."""


_LISTENERS: dict[str, HostListener] = {}  # of the process: there is one host in its JVM
_following = threading.Event()


class PluginHost(ABC):
    """A host of plugins: what it is asked, and what its plugins ask of the worker."""

    _metrics: tuple[float, Sequence[Mapping[str, Any]]] = (-math.inf, ())
    """When they were asked for, and the answer."""

    @abstractmethod
    def exchange(self, method: str, request: str) -> str:
        """The answer to a question, both as JSON."""

    def release(self) -> None:  # noqa: B027 - that in the JVM of Spark has no users of its own
        """Release the host: whoever has it for a connector or task calls this once."""

    def read_rows_here(self, task: str) -> None:  # noqa: B027 - rows of the JVM of Spark need nothing
        """Prepare Spark for reading the records of a source task of this host."""

    def ask(self, method: str, **request: Any) -> Any:
        """The answer to a question. Raises PluginError for what a plugin has thrown."""
        response = json.loads(self.exchange(method, json.dumps(request)))
        if "error" in response:
            raise PluginError(response["error"])
        return response["answer"]

    def metrics(self) -> Sequence[Mapping[str, Any]]:
        """What plugins measure themselves (KIP-877): `name`, `value` and `tags`, `connector` and `task` among them.

        Raises as `ask`. Whoever reads metrics asks for each task: what was answered less than a second ago is given again.
        """
        asked_at, metrics = self._metrics
        if time.monotonic() - asked_at >= _FRESH_S:
            metrics = self.ask("metrics")
            self._metrics = time.monotonic(), metrics
        return metrics

    def listen(self, id: str, listener: HostListener) -> None:
        """Have what the connector or task of this id asks answered by `listener`."""
        _LISTENERS[id] = listener

    def forget(self, id: str) -> None:
        """Answer it no more."""
        _LISTENERS.pop(id, None)

    def failed(self, id: str, trace: str) -> None:
        """Tell the listener of a connector that it cannot continue."""
        listener = _LISTENERS.get(id)
        if listener is not None:
            listener.failed(trace)

    def follow(self) -> None:
        """Answer what plugins ask until the host does not answer any more; raises what it says then."""
        with ThreadPoolExecutor(_ANSWERING, thread_name_prefix="plugin-answers") as answering:
            while True:
                event = self.ask("event", wait=_EVENT_WAIT_MS)
                if event is not None:
                    answering.submit(self._take, event)

    def _take(self, event: Mapping[str, Any]) -> None:
        listener = _LISTENERS.get(event["id"])
        if event["kind"] in ("offsets", "store"):
            self._answer(event, listener)
        elif listener is not None and event["kind"] == "reconfigure":
            listener.reconfigure()
        elif listener is not None:
            listener.failed(event["text"])

    def _answer(self, event: Mapping[str, Any], listener: HostListener | None) -> None:
        response: list[str] = []
        error = None if listener is not None else "the connector or task has ended"
        try:
            if listener is not None and event["kind"] == "offsets":
                response = [json.dumps(offset) for offset in listener.offsets([json.loads(text) for text in event["asked"]])]
            elif listener is not None and listener.store is not None:
                listener.store([(json.loads(key)[1], json.loads(value)) for key, value in event["asked"]])
        except Exception as e:  # whatever keeps the store from answering is the plugin's to know
            error = str(e)
        self.ask("offsets", number=event["number"], offsets=response, error=error)


class ConnectHost(PluginHost):
    """The host in the JVM of a Spark session, opened at the first question."""

    def __init__(self, spark: Callable[[], SparkSession], scan: Mapping[str, Any]) -> None:
        """spark: the process's session; scan: `locations` and `newest`, as the host's method `plugins` takes them."""
        self.spark, self.scan = spark, scan
        self._opening = threading.Lock()
        self._java: Any = None

    def exchange(self, method: str, request: str) -> str:
        """The answer to a question, both as JSON."""
        return self._opened().ask(method, request)

    @property
    def java(self) -> Any:
        """The class `ConnectHost` of the session's JVM."""
        return self.spark()._jvm.io.headrace.ConnectHost  # pyright: ignore

    @property
    def in_executors(self) -> bool:
        """Whether Spark's tasks run in executors that are processes of their own."""
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
                    hosts.offer(jars, json.dumps(self.scan, ensure_ascii=False))
                self._java = java
                if not _following.is_set():
                    _following.set()
                    threading.Thread(target=self._follow, name="plugin-events", daemon=True).start()
            return self._java

    def _follow(self) -> None:
        try:
            self.follow()
        except Exception as e:  # the session has ended
            log.debug("plugins.events.end", cause=str(e))
            _following.clear()
