"""States as attributes of Kafka Connect's MBeans, by group and name (`connector-task-metrics`, `batch-size-max`). Pure.

Measures that Kafka Connect does not have are in the group `headrace-task`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from headrace.runtime.metrics.task import TaskMetrics
from headrace.runtime.metrics.window import Meter
from headrace.spark.feeds import LATENCY_BOUNDS_MS

WORKER, REBALANCE = "connect-worker-metrics", "connect-worker-rebalance-metrics"
CONNECTOR, TASK, ERROR, HEADRACE = "connector-metrics", "connector-task-metrics", "task-error-metrics", "headrace-task"
STREAMS = "headrace-streams"


@dataclass(frozen=True)
class Measure:
    """One attribute of an MBean."""

    group: str
    """The MBean's type."""
    name: str
    """Of the attribute."""
    value: float | str
    labels: Mapping[str, str]
    """The MBean's other properties."""

    @property
    def counter(self) -> bool:
        """Whether the value is a counter: its name ends with `-total`."""
        return self.name.endswith("-total")


def of_task(state: TaskMetrics, lag: Mapping[str, int] | None, labels: Mapping[str, str], now_ms: int) -> Iterator[Measure]:
    """All measures of one task. lag: records still to be read, by partition; None if unknown."""
    groups = {
        TASK: _common(state, now_ms),
        f"{state.kind}-task-metrics": (_source if state.kind == "source" else _sink)(state, lag, now_ms),
        ERROR: _errors(state),
        HEADRACE: _own(state, lag, now_ms),
    }
    for group, values in groups.items():
        for name, value in values.items():
            yield Measure(group, name, value, labels)
    if state.in_flight is not None:
        for bound, count in zip((*map(str, LATENCY_BOUNDS_MS), "+Inf"), accumulate(state.in_flight.latency), strict=True):
            yield Measure(HEADRACE, "record-latency-ms-bucket", count, {**labels, "le": bound})
    for partition, behind in sorted((lag or {}).items()):
        yield Measure(HEADRACE, "partition-record-lag", behind, {**labels, "partition": partition})


def _common(state: TaskMetrics, now_ms: int) -> dict[str, float | str]:
    ok = state.commit_successes.average(now_ms)
    has_commits = bool(ok == ok)  # NaN is not itself
    return {
        "status": state.status,
        "running-ratio": state.ratio("running", now_ms),
        "pause-ratio": state.ratio("paused", now_ms),
        "batch-size-max": state.sizes.largest(now_ms),
        "batch-size-avg": state.sizes.average(now_ms),
        "offset-commit-max-time-ms": state.commit_times_ms.largest(now_ms),
        "offset-commit-avg-time-ms": state.commit_times_ms.average(now_ms),
        "offset-commit-success-percentage": ok if has_commits else 0.0,
        "offset-commit-failure-percentage": 1 - ok if has_commits else 0.0,
    }


def _source(state: TaskMetrics, _lag: Mapping[str, int] | None, now_ms: int) -> dict[str, float | str]:
    return {
        **_meter("source-record-poll", state.read, now_ms),
        **_meter("source-record-write", state.written, now_ms),
        "poll-batch-max-time-ms": state.times_ms.largest(now_ms),
        "poll-batch-avg-time-ms": state.times_ms.average(now_ms),
        **_active("source-record", state, now_ms),
        **(_transactions(state, now_ms) if state.transactions.samples else {}),
    }


def _transactions(state: TaskMetrics, now_ms: int) -> dict[str, float | str]:
    return {
        "transaction-size-min": state.transactions.smallest(now_ms),
        "transaction-size-max": state.transactions.largest(now_ms),
        "transaction-size-avg": state.transactions.average(now_ms),
    }


def _sink(state: TaskMetrics, lag: Mapping[str, int] | None, now_ms: int) -> dict[str, float | str]:
    return {
        **_meter("sink-record-read", state.read, now_ms),
        **_meter("sink-record-send", state.written, now_ms),
        "put-batch-max-time-ms": state.times_ms.largest(now_ms),
        "put-batch-avg-time-ms": state.times_ms.average(now_ms),
        **_active("sink-record", state, now_ms),
        "sink-record-lag-max": max(lag.values(), default=0) if lag is not None else float("nan"),
        "partition-count": state.partitions,
        "offset-commit-seq-no": state.commits.total,
        **_meter("offset-commit-completion", state.commits, now_ms),
        "offset-commit-skip-rate": 0.0,
        "offset-commit-skip-total": 0,
    }


def _active(prefix: str, state: TaskMetrics, now_ms: int) -> dict[str, float]:
    """Active records: a batch is read, transformed and written as a whole; between batches there are none."""
    return {
        f"{prefix}-active-count": 0,
        f"{prefix}-active-count-max": state.sizes.largest(now_ms),
        f"{prefix}-active-count-avg": state.sizes.average(now_ms),
    }


def _errors(state: TaskMetrics) -> dict[str, float | str]:
    return {
        "total-record-failures": state.failed_records,
        "total-record-errors": state.failed_records,
        "total-records-skipped": state.skipped,
        "total-retries": state.retries,
        "total-errors-logged": state.logged,
        "deadletterqueue-produce-requests": state.letters,
        "deadletterqueue-produce-failures": 0,  # a letter that cannot be written ends the task
        "last-error-timestamp": state.error_ms,
    }


def _own(state: TaskMetrics, lag: Mapping[str, int] | None, now_ms: int) -> dict[str, float | str]:
    values: dict[str, float | str] = {"batches-total": state.batches, "failures-total": state.failures}
    if state.status == "failed":
        values["restart-pending"] = int(state.restarts)
    if state.kind == "source":
        values |= {"data-losses-total": state.losses, "data-loss-records-total": state.lost_records}
    if state.mode is not None:
        values["stream-mode"] = state.mode
    if state.in_flight is not None:
        flying = state.in_flight
        values |= {"in-flight-bytes": flying.bytes, "flow-paused": int(flying.paused), "flow-paused-ms-total": flying.paused_ms}
        values |= _meter("read-bytes", state.read_bytes, now_ms)
    if lag is not None:
        values |= {"record-lag": sum(lag.values()), "record-lag-max": max(lag.values(), default=0)}
    return values | ({"last-error": state.error} if state.error else {})


def _meter(name: str, meter: Meter, now_ms: int) -> dict[str, float]:
    return {f"{name}-rate": meter.window.rate(now_ms), f"{name}-total": meter.total}
