"""The reference page of metrics: what workers and streams applications measure, in both families of names, with the labels.

It is made of what the code that measures gives for one of everything: a source and a sink that have copied a record, a mirror, a
checkpoint, a transaction, a rebalance, and an application. A test compares it with `/metrics` of live ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from headrace.runtime.metrics.measures import Measure
    from headrace.streams.states import State

Row = tuple[str, tuple[str, ...]]
"""The name of a series, and the names of its labels."""
_TASK = {"connector": "c", "task": "0"}
_FLOW = {"source": "a", "target": "b", "topic": "a.t", "partition": "0"}


def metrics_page(notice: str) -> str:
    """The page, which begins with its title and the notice that it was written by a program."""
    parts = [
        "# List of metrics", "", notice, "What they mean: [metrics](metrics.md), [dashboards and alerts](monitoring.md).", "",
        "## Of a worker", "",
        "Metrics of plugins in Java and in Python are `kafka_connect_plugins_<name>` besides, with the labels of KIP-877.", "",
        "| `names=kafka` | `names=strimzi` | labels |", "|---|---|---|",
    ]  # fmt: skip
    parts += [
        f"| `{name}` | {f'`{strimzi}`' if strimzi else ''} | {_labels(labels)} |"
        for (name, labels), strimzi in sorted(worker_rows().items())
    ]
    parts += [
        "", "## Of an instance of a streams application", "", "Under `--metrics`; names are the same for everyone.", "",
        "| name | labels |", "|---|---|",
    ]  # fmt: skip
    parts += [f"| `{name}` | {_labels(labels)} |" for name, labels in sorted(application_rows())]
    return "\n".join(parts) + "\n"


def _labels(labels: Iterable[str]) -> str:
    return ", ".join(f"`{label}`" for label in labels)


def worker_rows() -> dict[Row, str]:
    """The series of a worker with `names=kafka`, each with its name with `names=strimzi`; empty if it has none there."""
    return {row: strimzi for measure in worker_measures() for row, strimzi in _in_both_families(measure)}


def application_rows() -> set[Row]:
    """The series of an instance of a streams application."""
    return {(sample.name, tuple(sorted(sample.labels))) for family in _application() for sample in family.samples}


def _in_both_families(measure: Measure) -> Iterator[tuple[Row, str]]:
    """Each series of a measure, and the name that it has in the other family; empty if it has none there."""
    (strimzi, _), *_ = _rows(measure, "strimzi")
    first, *more = _rows(measure, "kafka")
    yield first, strimzi
    yield from ((row, "") for row in more)


def _rows(measure: Measure, scheme: str) -> list[Row]:
    from headrace.rest.prometheus import samples

    return [(name, tuple(sorted(labels))) for name, labels, _ in samples(measure, scheme)]


# ------------------------------------------------------------------------------------------------ one of everything
def worker_measures() -> Iterator[Measure]:
    """What a worker measures that runs one of everything."""
    from headrace.rest.streams_measures import measures
    from headrace.runtime.metrics.measures import Measure

    yield from _of_group_and_tasks()
    for group, name, value, labels in (*_of_mirrors(), *_of_checkpoints()):
        yield Measure(group, name, value, labels)
    figures = {"batches": 1.0, "records": 1.0, "dropped": 0.0, "batch-ms": 1.0, "lag": 0.0, "rows-read": 1.0}
    report = {
        "application": "app", "instance": "one", "state": "RUNNING", "active": True, "age_ms": 0,
        "metrics": {"sub-topology-0": figures},
    }  # fmt: skip
    yield from measures([report])


def _of_group_and_tasks() -> list[Measure]:
    from headrace.cluster.rebalances import Rebalances
    from headrace.kafka.delivered_position import DeliveredPosition
    from headrace.runtime.metrics import Metrics
    from headrace.runtime.metrics.events import InFlight, ModeChosen, Transactional
    from headrace.runtime.metrics.window import Span
    from headrace.spark.feeds import LATENCY_BOUNDS_MS

    metrics = Metrics()
    rebalances = Rebalances(Span(30_000, 2))
    rebalances.show(metrics, "sessioned", lambda: "http://w:8083/")
    with rebalances.measured(1):
        pass
    for name, kind, state in (("a", "source", "RUNNING"), ("b", "sink", "FAILED")):
        metrics.connector(name, kind, "class", "1")
        metrics.connector_state(name, "RUNNING")
        recorder = metrics.task(name, 0, kind)
        recorder.follow_positions(lambda: {"t-0": DeliveredPosition(0, 1)})
        recorder.update_progress()
        recorder.record(InFlight(0, False, 0, (0,) * (len(LATENCY_BOUNDS_MS) + 1)))
        recorder.record(ModeChosen("microbatch", "default"))
        recorder.record(Transactional((1,)))
        metrics.task_state(name, 0, state, "an error" if state == "FAILED" else None)
    return metrics.measures()


def _of_mirrors() -> Iterator[tuple[str, str, float, Mapping[str, str]]]:
    from headrace.connectors.kafka_source.metrics import OF_MIRROR, OF_PLUGIN, OF_TASK, PartitionMetrics
    from headrace.spark.feeds import Ages, PartitionUpdate

    age = Ages(1, 1, 1, 1, 1)
    measured = PartitionMetrics().after(PartitionUpdate("t", 0, 1, 1, 1, 0, 0, 0, age, age))
    yield from measured.measures(OF_TASK, {**_TASK, "partition": "t-0"})
    yield from measured.measures(OF_MIRROR, _FLOW)
    yield from measured.measures(OF_PLUGIN, {**_TASK, **_FLOW})


def _of_checkpoints() -> Iterator[tuple[str, str, float, Mapping[str, str]]]:
    from headrace.connectors.mirror.checkpoint_metrics import CheckpointMetrics
    from headrace.connectors.mirror.formats import Checkpoint

    metrics, checkpoint = CheckpointMetrics("a", "b", ("legacy", "new"), _TASK), Checkpoint("g", "a.t", 0, 1, 1)
    metrics.created([checkpoint], 0)
    metrics.acknowledged([checkpoint], 1)
    yield from metrics.measures()


class _ExampleInstance:
    """An instance of an application that has done one batch."""

    def is_active(self) -> bool:
        return True

    def state(self) -> State:
        from headrace.streams.states import State

        return State.RUNNING

    def metrics(self) -> Mapping[str, Mapping[str, float]]:
        names = ("batches", "records", "dropped", "batch-ms", "batch-ms-total", "lag", "rows-read", "block-cache-usage")
        return {"sub-topology-0": dict.fromkeys(names, 1.0)}

    def store_sizes(self) -> Mapping[str, Mapping[str, int]]:
        return {"sub-topology-0": {"store": 1}}


def _application() -> Iterable[Metric]:
    from headrace.streams.exposition import StreamsCollector

    return StreamsCollector("app", _ExampleInstance()).collect()
