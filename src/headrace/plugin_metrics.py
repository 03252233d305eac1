"""Metrics that plugins in Python register themselves (KIP-877), in `/metrics` as `kafka_connect_plugins_<name>`."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import structlog

from headrace.errors import ArgumentError

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator

log = structlog.get_logger(__name__)

GROUP = "plugins"
_NAME, _TAG = re.compile(r"[a-zA-Z][\w-]*"), re.compile(r"[a-zA-Z_]\w*")
Tags = Mapping[str, str]
_Key = tuple[str, tuple[tuple[str, str], ...]]


class PluginCounter:
    """A count that only grows. Where the plugin runs in Python processes of Spark it is a Spark accumulator, and goes with it.

    Spark may run a batch more than once; then what is counted there counts again.
    """

    def __init__(self, accumulator: Accumulator[int] | None = None) -> None:
        self._accumulator, self._count = accumulator, 0
        self._lock = threading.Lock()

    def add(self, count: int = 1) -> None:
        """Count so many more; from any thread, or in a Python process of Spark."""
        with self._lock:
            if self._accumulator is not None:
                self._accumulator.add(count)
            else:
                self._count += count

    def value(self) -> float:
        """The count so far, of the process that made it."""
        return float(self._accumulator.value if self._accumulator is not None else self._count)

    def __reduce__(self) -> Any:
        return PluginCounter, (self._accumulator,)


class PluginMetrics:
    """The metrics of one plugin of a connector or task; each has the tags of what it is a plugin of. Thread-safe."""

    def __init__(self, tags: Tags | None = None, registered: dict[_Key, Callable[[], float]] | None = None) -> None:
        """registered: those that are shown together with these."""
        self._tags = dict(tags or {})
        self._registered = {} if registered is None else registered

    def of(self, **tags: str) -> PluginMetrics:
        """For a plugin inside this one, with more tags; they are shown together."""
        return PluginMetrics({**self._tags, **tags}, self._registered)

    def gauge(self, name: str, read: Callable[[], float], tags: Tags | None = None) -> None:
        """Show what `read` gives whenever the metrics are asked for; it should neither wait nor raise.

        name: letters, digits, `-` and `_`. Raises ArgumentError for a name or tag that Prometheus does not take, and for one that
        is registered already.
        """
        key = self._key(name, tags or {})
        if key in self._registered:
            raise ArgumentError(f"The metric '{name}' with the tags {dict(key[1])} is registered already.")
        self._registered[key] = read

    def counter(self, name: str, tags: Tags | None = None) -> PluginCounter:
        """Show a count, which starts at 0. Raises as `gauge`."""
        counter = PluginCounter(_accumulator())
        self.gauge(name, counter.value, tags)
        return counter

    def remove(self, name: str, tags: Tags | None = None) -> None:
        """Show it no longer. Raises ArgumentError if it is not registered."""
        if self._registered.pop(self._key(name, tags or {}), None) is None:
            raise ArgumentError(f"There is no metric '{name}' with these tags.")

    def measures(self) -> list[tuple[str, str, float, Tags]]:
        """Those that can be read now, with those of plugins inside."""
        measures = []
        for (name, tags), read in list(self._registered.items()):
            try:
                measures.append((GROUP, name, float(read()), dict(tags)))
            except Exception as error:  # a plugin's own code, asked whenever somebody looks at the metrics
                log.debug("plugin.metric.unknown", metric=name, cause=str(error))
        return measures

    def _key(self, name: str, tags: Tags) -> _Key:
        if not _NAME.fullmatch(name) or not all(_TAG.fullmatch(tag) for tag in tags):
            raise ArgumentError(f"'{name}' with the tags {dict(tags)} is no metric: names have letters, digits, - and _.")
        return name, tuple(sorted({**tags, **self._tags}.items()))

    def __reduce__(self) -> Any:
        """A plugin that keeps it can be sent to Spark's Python processes; there nothing is registered with it."""
        return PluginMetrics, (self._tags,)


def _accumulator() -> Accumulator[int] | None:
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return None if context is None else context.accumulator(0)
