"""What /metrics shows of a sink: each record once, however often the sink reads its batches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.clusters import Cluster, record
from tests.kafka_source.test_metrics import await_measured
from tests.sinks.sink import Sink

SINK = "kafka_connect_sink_task_metrics_"
STRING = "org.apache.kafka.connect.storage.StringConverter"


def test_a_sink_counts_each_record_once(
    cluster: Cluster, sink: Callable[..., Sink], topic_name: Callable[[str], str], file: Path
) -> None:
    topic = topic_name("counted")
    cluster.create(topic, partitions=2)
    cluster.produce(topic, [record(b"k", b"%d" % n, partition=n % 2) for n in range(30)])
    one = sink("FileStreamSink", file=str(file), topics=topic, key_converter=STRING, value_converter=STRING)
    found = await_measured(one.worker, one.name, {
        f"{SINK}sink_record_read_total": 30, f"{SINK}sink_record_send_total": 30, f"{SINK}partition_count": 2,
        f"{SINK}sink_record_lag_max": 0,
    })  # fmt: skip
    assert found[f"{SINK}offset_commit_seq_no"] == found[f"{SINK}offset_commit_completion_total"] >= 1
    assert found[f"{SINK}put_batch_max_time_ms"] > 0
    assert len(file.read_text().splitlines()) == 30
