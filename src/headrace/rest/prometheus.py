"""What a worker measures, in Prometheus' text format, named as exporters name Kafka Connect's MBeans (docs/metrics.md).

`kafka`: `kafka_connect_<type>_<attribute>`, as Strimzi's metrics reporter and the JMX exporter with Confluent's rules have them;
`strimzi`: the shorter names of the rules that Strimzi ships for the JMX exporter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

from headrace.errors import BadRequestError
from headrace.runtime.metrics.measures import CONNECTOR, HEADRACE, REBALANCE, STREAMS, WORKER, Measure

SCHEMES = ("kafka", "strimzi")
_STRIMZI = {WORKER: "worker", REBALANCE: "worker-rebalance", "connect-coordinator-metrics": "coordinator"}
_HEADRACE_GROUPS = HEADRACE, STREAMS
_PROCESS = ProcessCollector(registry=None)

Sample = tuple[str, Mapping[str, str], float]


def render(measures: Iterable[Measure], scheme: str, accept: str | None) -> tuple[bytes, str]:
    """The body and its content type: OpenMetrics if `accept` asks for it, else Prometheus' own format.

    scheme: one of SCHEMES. Raises BadRequestError for another.
    """
    if scheme not in SCHEMES:
        raise BadRequestError(f"There are no names '{scheme}' of metrics; `names` is one of {', '.join(SCHEMES)}.")
    encode, content_type = choose_encoder(accept or "")
    families: dict[str, Metric] = {}
    for measure in measures:
        for name, labels, value in samples(measure, scheme):
            family = families.get(name) or families.setdefault(name, _family(name, measure))
            family.add_sample(name, dict(labels), value)
    registry = CollectorRegistry()
    registry.register(_Collected([*families.values(), *_PROCESS.collect()]))
    return encode(registry), content_type


class _Collected(Collector):
    """Metrics that are there already."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


def _family(name: str, measure: Measure) -> Metric:
    text = f"{measure.name} of {measure.group}"
    return CounterMetricFamily(name, text) if measure.counter else GaugeMetricFamily(name, text)


def samples(measure: Measure, scheme: str) -> Iterator[Sample]:
    """The samples of an attribute, in a scheme of SCHEMES; a text is a label of one that is always 1."""
    name, attribute = _name(measure, scheme), measure.name.replace("-", "_")
    if not isinstance(measure.value, str):
        yield name, measure.labels, measure.value
        return
    labels = {**measure.labels, attribute: measure.value}
    if scheme == "strimzi" and measure.group not in _HEADRACE_GROUPS:
        yield name, labels, 1
        return
    yield f"{name}_info", labels, 1
    if measure.group == CONNECTOR:  # Confluent's rules
        yield "kafka_connect_connector_metrics", labels, 1


def _name(measure: Measure, scheme: str) -> str:
    group = measure.group
    if scheme == "strimzi":
        group = _STRIMZI.get(group, group.removesuffix("-metrics"))
    prefix = "" if measure.group in _HEADRACE_GROUPS else "kafka-connect-"
    return f"{prefix}{group}-{measure.name}".replace("-", "_")
