"""The metrics of an application instance, in Prometheus' text format, over HTTP.

Metrics of Kafka Streams have its names: `kafka_streams_`, the MBean's type, the attribute. A sub-topology is one task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from prometheus_client import start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from headrace.errors import SetupError
from headrace.streams.states import State

_COUNTERS = {
    "batches": ("batches", "Batches that were committed."),
    "records": ("records", "Records that were read."),
    "rows-read": ("rows_read", "Rows of stores that were looked at."),
}
_GAUGES = {"batch-ms": ("batch_ms", "Time of the last batch."), "lag": ("record_lag", "Records that are still to be read.")}
_TASK = {
    "records": ("process", "Records that were processed."),
    "dropped": ("dropped_records", "Records that were left out: unreadable, failed, too late, or without a needed key or value."),
}
_STORES = {"block-cache-usage": ("block_cache_usage", "Bytes that the stores' cache and write buffers take in this process.")}
_KAFKA = "kafka_streams_stream"


class MetricsSource(Protocol):
    """The part of an application that metrics use."""

    def is_active(self) -> bool:
        """Whether this instance is the active one."""
        ...

    def state(self) -> State:
        """The current state."""
        ...

    def metrics(self) -> Mapping[str, Mapping[str, float]]:
        """Figures by sub-topology."""
        ...

    def store_sizes(self) -> Mapping[str, Mapping[str, int]]:
        """About how many rows each store has, by sub-topology."""
        ...


class StreamsCollector(Collector):
    """Collects the metrics of one instance at each scrape."""

    def __init__(self, application_id: str, streams: MetricsSource) -> None:
        self._id, self._streams = application_id, streams

    def collect(self) -> Iterator[Metric]:
        """All families: states as 0 and 1, and figures by sub-topology."""
        state = GaugeMetricFamily("headrace_streams_state", "1 for the present state.", labels=["application", "state"])
        for member in State:
            state.add_metric([self._id, member.name], float(member is self._streams.state()))
        active = GaugeMetricFamily("headrace_streams_active", "Whether this instance works.", labels=["application"])
        active.add_metric([self._id], float(self._streams.is_active()))
        yield from (state, active)
        figures = self._streams.metrics()
        labels = ["application", "sub_topology"]
        for key, (name, text) in _COUNTERS.items():
            yield self._with_samples(CounterMetricFamily(f"headrace_streams_{name}", text, labels=labels), key, figures)
        for key, (name, text) in _GAUGES.items():
            yield self._with_samples(GaugeMetricFamily(f"headrace_streams_{name}", text, labels=labels), key, figures)

        yield from self._kafka_metrics(figures)

    def _kafka_metrics(self, figures: Mapping[str, Mapping[str, float]]) -> Iterator[Metric]:
        text = f"The present state: {', '.join(f'{member.name}({number})' for number, member in enumerate(State))}."
        state = GaugeMetricFamily(f"{_KAFKA}_metrics_client_state", text, labels=["application_id"])
        state.add_metric([self._id], list(State).index(self._streams.state()))
        yield state
        labels = ["application_id", "task_id"]
        for key, (name, about) in _TASK.items():
            yield self._with_samples(CounterMetricFamily(f"{_KAFKA}_task_metrics_{name}", about, labels=labels), key, figures)
        latency = GaugeMetricFamily(f"{_KAFKA}_task_metrics_process_latency_avg", "Time of a batch, in ms.", labels=labels)
        yield self._with_samples(latency, "batch-ms-avg", {name: _averages(values) for name, values in figures.items()})
        for key, (name, about) in _STORES.items():
            yield self._with_samples(GaugeMetricFamily(f"{_KAFKA}_state_metrics_{name}", about, labels=labels), key, figures)
        rows = GaugeMetricFamily(
            f"{_KAFKA}_state_metrics_estimate_num_keys", "About how many rows a store has.", labels=[*labels, "rocksdb_state_id"]
        )
        for sub_topology, sizes in self._streams.store_sizes().items():
            for store, size in sizes.items():
                rows.add_metric([self._id, sub_topology.removeprefix("sub-topology-"), store], size)
        yield rows

    def _with_samples(
        self, family: CounterMetricFamily | GaugeMetricFamily, key: str, figures: Mapping[str, Mapping[str, float]]
    ) -> Metric:
        for sub_topology, values in figures.items():
            family.add_metric([self._id, sub_topology.removeprefix("sub-topology-")], values[key])
        return family


def _averages(values: Mapping[str, float]) -> dict[str, float]:
    return {"batch-ms-avg": values["batch-ms-total"] / values["batches"] if values["batches"] else float("nan")}


@contextmanager
def serve_metrics(collector: Collector, address: str | None) -> Iterator[Callable[[], int] | None]:
    """Serve `/metrics` at `host:port` for the length of the block; yields a function that says the port.

    An empty host is every interface; address: None serves nothing. Raises SetupError if the address cannot be listened on.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server, thread = start_http_server(int(port), host.strip("[]") or "0.0.0.0", registry)
    except (OSError, ValueError, OverflowError) as error:
        raise SetupError(f"Metrics cannot be served at '{address}': {error}; name a free address as HOST:PORT.") from error
    try:
        yield lambda: server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
