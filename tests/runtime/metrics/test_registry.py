"""Events in, attributes of Kafka Connect's MBeans out."""

from __future__ import annotations

from headrace.kafka.delivered_position import DeliveredPosition
from headrace.runtime.metrics import Metrics
from headrace.runtime.metrics.events import Assigned, Batch, Committed, InFlight, Lost, ModeChosen, Retried
from headrace.spark.feeds import LATENCY_BOUNDS_MS

AT = {"t-0": DeliveredPosition(6, 10), "t-1": DeliveredPosition(0, 7)}
NO_LOSS = {"stalled-ms": 0, "data-losses-total": 0, "data-loss-records-total": 0}


class Clock:
    """Epoch ms, as a test sets them."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def __call__(self) -> int:
        return self.ms


def of(metrics: Metrics, group: str, **labels: str) -> dict[str, float | str]:
    return {m.name: m.value for m in metrics.measures() if m.group == group and dict(m.labels) == labels}


def running(metrics: Metrics, kind: str = "source"):
    recorder = metrics.task("c", 0, kind)
    metrics.task_state("c", 0, "RUNNING")
    return recorder


def test_batches_of_a_source_add_up() -> None:
    clock = Clock()
    metrics = Metrics(now=clock)
    recorder = running(metrics)
    recorder.record(Batch(read=10, written=8, took_ms=20))
    recorder.record(Batch(read=30, written=30, took_ms=40))
    recorder.record(Batch(read=0, written=0, took_ms=1))  # offsets without records
    recorder.record(Committed(ok=True, took_ms=4))
    recorder.record(Committed(ok=False, took_ms=9))
    source = of(metrics, "source-task-metrics", connector="c", task="0")
    assert (source["source-record-poll-total"], source["source-record-write-total"]) == (40, 38)
    assert source["source-record-poll-rate"] == 40 / 30
    assert (source["poll-batch-max-time-ms"], source["poll-batch-avg-time-ms"]) == (40, 30)
    task = of(metrics, "connector-task-metrics", connector="c", task="0")
    assert (task["batch-size-max"], task["batch-size-avg"]) == (30, 20)
    assert (task["offset-commit-success-percentage"], task["offset-commit-failure-percentage"]) == (0.5, 0.5)
    assert (task["offset-commit-max-time-ms"], task["status"]) == (4, "running")
    assert of(metrics, "headrace-task", connector="c", task="0") == {"batches-total": 3, "failures-total": 0, **NO_LOSS}


def test_what_the_source_has_lost_is_counted_as_far_as_it_is_known() -> None:
    metrics = Metrics(now=Clock())
    recorder = running(metrics)
    recorder.record(Lost(5))
    recorder.record(Lost(0))
    found = of(metrics, "headrace-task", connector="c", task="0")
    assert (found["data-losses-total"], found["data-loss-records-total"]) == (2, 5)


def test_losses_count_on_when_the_task_is_started_again() -> None:
    metrics = Metrics(now=Clock())
    running(metrics).record(Lost(5))
    running(metrics).record(Lost(1))
    found = of(metrics, "headrace-task", connector="c", task="0")
    assert (found["data-losses-total"], found["data-loss-records-total"]) == (2, 6)


def test_the_mode_of_a_stream_is_shown_with_its_reason() -> None:
    metrics = Metrics(now=Clock())
    running(metrics).record(ModeChosen("realtime", "stream.mode=realtime"))
    assert of(metrics, "headrace-task", connector="c", task="0")["stream-mode"] == "realtime: stream.mode=realtime"


def test_the_pauses_of_all_runs_of_a_task_add_up() -> None:
    metrics = Metrics(now=Clock())
    recorder = running(metrics)
    for paused in (True, False):
        recorder.record(InFlight(100 * paused, paused, 40, (1,) * (len(LATENCY_BOUNDS_MS) + 1), read_bytes=3))
    found = of(metrics, "headrace-task", connector="c", task="0")
    assert (found["in-flight-bytes"], found["flow-paused"], found["flow-paused-ms-total"]) == (0, 0, 80)
    assert found["read-bytes-total"] == 6 and found["read-bytes-rate"]
    assert of(metrics, "headrace-task", connector="c", task="0", le="1") == {"record-latency-ms-bucket": 2}


def test_a_sink_has_its_own_names() -> None:
    metrics = Metrics(now=Clock())
    recorder = running(metrics, "sink")
    recorder.record(Assigned(3))
    recorder.follow_positions(lambda: AT)
    recorder.record(Batch(read=10, written=9, took_ms=20))
    recorder.record(Committed(ok=True, took_ms=1))
    sink = of(metrics, "sink-task-metrics", connector="c", task="0")
    assert (sink["sink-record-read-total"], sink["sink-record-send-total"], sink["sink-record-lag-max"]) == (10, 9, 7)
    assert (sink["partition-count"], sink["offset-commit-seq-no"], sink["offset-commit-completion-total"]) == (3, 1, 1)
    assert of(metrics, "headrace-task", connector="c", task="0")["record-lag"] == 11
    assert not of(metrics, "source-task-metrics", connector="c", task="0")


def test_records_that_fail_are_counted_by_what_became_of_them() -> None:
    clock = Clock()
    metrics = Metrics(now=clock)
    recorder = running(metrics)
    recorder.record(Batch(read=10, written=7, took_ms=1, failed=3, skipped=3, logged=3, letters=3))
    recorder.record(Retried())
    assert of(metrics, "task-error-metrics", connector="c", task="0") == {
        "total-record-failures": 3, "total-record-errors": 3, "total-records-skipped": 3, "total-retries": 1,
        "total-errors-logged": 3, "deadletterqueue-produce-requests": 3, "deadletterqueue-produce-failures": 0,
        "last-error-timestamp": clock.ms,
    }  # fmt: skip


def test_what_plugins_of_a_chain_were_called_again_for_is_kept_when_they_are_closed() -> None:
    metrics, task = Metrics(now=Clock()), {"connector": "c", "task": "0"}
    recorder = running(metrics)
    recorder.record(Retried())
    own = ("plugins", "hits", 1.0, {"converter": "key", **task})
    recorder.follow_task_measures(lambda: [own])
    retries = [1]
    plugins = [own, ("plugins", "hits", 2.0, {"predicate": "p", **task})]
    recorder.follow_plugins(lambda: plugins, lambda: retries[0])
    retries[0] = 4
    assert of(metrics, "task-error-metrics", **task)["total-retries"] == 4
    recorder.end_plugins()
    assert of(metrics, "task-error-metrics", **task)["total-retries"] == 4
    assert [m.value for m in metrics.measures() if m.group == "plugins"] == [1]
    recorder.follow_plugins(lambda: plugins, lambda: retries[0])  # another attempt of the same task
    retries[0] = 5
    assert of(metrics, "task-error-metrics", **task)["total-retries"] == 5
    assert [m.value for m in metrics.measures() if m.group == "plugins"] == [1, 2]


def test_a_failed_task_keeps_its_metrics_until_it_is_restarted() -> None:
    metrics = Metrics(now=Clock())
    recorder = running(metrics)
    recorder.follow_positions(lambda: {"t-0": DeliveredPosition(1, 6)})
    recorder.record(Batch(read=10, written=10, took_ms=1))
    metrics.task_state("c", 0, "FAILED", "ConnectException: no", restarts=True)
    task = {"connector": "c", "task": "0"}
    assert of(metrics, "source-task-metrics", **task)["source-record-write-total"] == 10
    assert of(metrics, "headrace-task", **task) == {
        "batches-total": 1, "failures-total": 1, "record-lag": 5, "record-lag-max": 5, "last-error": "ConnectException: no",
        "restart-pending": 1, **NO_LOSS,
    }  # fmt: skip
    metrics.task_state("c", 0, "UNASSIGNED")
    assert not of(metrics, "source-task-metrics", **task)
    running(metrics)
    assert of(metrics, "source-task-metrics", **task)["source-record-write-total"] == 0
    assert of(metrics, "headrace-task", **task) == {"batches-total": 0, "failures-total": 1, **NO_LOSS}
    metrics.remove_task("c", 0)
    assert not of(metrics, "headrace-task", **task)


def test_a_paused_task_goes_on_with_its_counters() -> None:
    clock = Clock()
    metrics = Metrics(now=clock)
    running(metrics).record(Batch(read=10, written=10, took_ms=1))
    clock.ms += 1000
    metrics.task_state("c", 0, "PAUSED")
    clock.ms += 3000
    running(metrics)
    found = of(metrics, "connector-task-metrics", connector="c", task="0")
    assert (found["running-ratio"], found["pause-ratio"]) == (0.25, 0.75)
    assert of(metrics, "source-task-metrics", connector="c", task="0")["source-record-poll-total"] == 10
    assert of(metrics, "connect-worker-metrics")["task-startup-attempts-total"] == 1


def test_a_worker_counts_connectors_tasks_and_their_starts() -> None:
    metrics = Metrics(now=Clock())
    metrics.started("connector", ok=True)
    metrics.started("connector", ok=False)
    metrics.connector("c", "source", "org.x.Source", "1.2")
    metrics.connector_state("c", "RUNNING")
    metrics.connector_state("d", "FAILED")
    running(metrics)
    metrics.task_state("c", 1, "FAILED", "no plan")  # before it was made
    worker = of(metrics, "connect-worker-metrics")
    assert (worker["connector-count"], worker["task-count"]) == (2, 2)
    assert (worker["connector-startup-attempts-total"], worker["connector-startup-failure-percentage"]) == (2, 0.5)
    assert (worker["task-startup-success-total"], worker["task-startup-failure-total"]) == (1, 1)
    counts = of(metrics, "connect-worker-metrics", connector="c")
    assert {name: n for name, n in counts.items() if n} == {
        "connector-total-task-count": 2, "connector-running-task-count": 1, "connector-failed-task-count": 1,
    }  # fmt: skip
    assert of(metrics, "connector-metrics", connector="c") == {
        "status": "running", "connector-type": "source", "connector-class": "org.x.Source", "connector-version": "1.2",
    }  # fmt: skip
    metrics.connector_state("d", "UNASSIGNED")  # another worker has it now
    assert of(metrics, "connect-worker-metrics")["connector-count"] == 1
    metrics.remove_connector("c")
    assert not of(metrics, "connect-worker-metrics", connector="c")


def test_others_put_in_what_they_know() -> None:
    metrics, epoch = Metrics(now=Clock()), [3]
    metrics.gauge("connect-worker-rebalance-metrics", "epoch", lambda: epoch[0])
    metrics.gauge("connect-worker-rebalance-metrics", "leader-name", lambda: None)
    assert of(metrics, "connect-worker-rebalance-metrics") == {"epoch": 3}
    epoch[0] = 4
    assert of(metrics, "connect-worker-rebalance-metrics") == {"epoch": 4}


def test_a_task_shows_what_it_measures_itself_and_its_lag_by_partition() -> None:
    metrics = Metrics()
    recorder = metrics.task("c", 0, "source")
    metrics.task_state("c", 0, "RUNNING")
    recorder.follow_positions(lambda: AT)
    recorder.follow_task_measures(lambda: [("mirror-x", "record-count", 5.0, {"topic": "A.t"})])
    found = {(m.group, m.name, m.labels.get("partition"), m.labels.get("topic")): m.value for m in metrics.measures()}
    assert found["mirror-x", "record-count", None, "A.t"] == 5
    assert found["headrace-task", "partition-record-lag", "t-1", None] == 7


def test_the_figures_of_a_task_ask_for_its_lag_once() -> None:
    metrics, asked = Metrics(now=Clock()), list[int]()
    running(metrics).follow_positions(lambda: asked.append(1) or AT)
    (figures,) = metrics.figures()
    assert (figures.lag, len(asked)) == (11, 1)


def test_the_figures_of_one_connector_ask_no_other_for_its_lag() -> None:
    metrics, asked = Metrics(now=Clock()), list[int]()
    running(metrics).follow_positions(lambda: asked.append(1) or AT)
    metrics.task("d", 0, "source")
    metrics.task_state("d", 0, "RUNNING")
    assert ([task.connector for task in metrics.figures("d")], asked) == (["d"], [])
