from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from headrace.errors import SetupError
from headrace.streams.exposition import StreamsCollector, serve_metrics
from headrace.streams.states import State


class Instance:
    """What an application says of itself, as `KafkaStreams.metrics` has it."""

    def is_active(self) -> bool:
        return True

    def state(self) -> State:
        return State.RUNNING

    def metrics(self) -> dict[str, dict[str, float]]:
        figures = {"batches": 3.0, "records": 70.0, "dropped": 2.0, "batch-ms": 12.5, "batch-ms-total": 30.0, "lag": 4.0}
        figures |= {"rows-read": 210.0, "block-cache-usage": 4096.0}
        return {"sub-topology-1": figures}

    def store_sizes(self) -> dict[str, dict[str, int]]:
        return {"sub-topology-1": {"counts": 9}}


def test_an_instance_is_measured_over_http_by_sub_topology() -> None:
    with serve_metrics(StreamsCollector("app", Instance()), "127.0.0.1:0") as port:
        assert port is not None
        text = httpx.get(f"http://127.0.0.1:{port()}/metrics", timeout=100).text
    samples = {(s.name, *sorted(s.labels.values())): s.value for f in text_string_to_metric_families(text) for s in f.samples}
    assert samples["headrace_streams_records_total", "1", "app"] == 70
    assert samples["headrace_streams_record_lag", "1", "app"] == 4
    assert samples["headrace_streams_rows_read_total", "1", "app"] == 210
    assert samples["headrace_streams_state", "RUNNING", "app"] == 1
    assert samples["headrace_streams_state", "ERROR", "app"] == 0
    assert samples["headrace_streams_active", "app"] == 1


def test_what_kafka_streams_measures_has_its_name() -> None:
    samples = {
        (s.name, *sorted(s.labels.items())): s.value for f in StreamsCollector("app", Instance()).collect() for s in f.samples
    }
    task = (("application_id", "app"), ("task_id", "1"))
    assert samples["kafka_streams_stream_metrics_client_state", ("application_id", "app")] == 2
    assert samples["kafka_streams_stream_task_metrics_process_total", *task] == 70
    assert samples["kafka_streams_stream_task_metrics_dropped_records_total", *task] == 2
    assert samples["kafka_streams_stream_task_metrics_process_latency_avg", *task] == 10
    assert samples["kafka_streams_stream_state_metrics_block_cache_usage", *task] == 4096
    rows = ("application_id", "app"), ("rocksdb_state_id", "counts"), ("task_id", "1")
    assert samples["kafka_streams_stream_state_metrics_estimate_num_keys", *rows] == 9


@pytest.mark.parametrize("address", ["127.0.0.1:many", "127.0.0.1:70000", "192.0.2.1:0"])
def test_an_address_that_cannot_be_is_one_sentence(address: str) -> None:
    with pytest.raises(SetupError, match="name a free address as HOST:PORT"):
        serve(address)


def test_an_address_that_is_taken_is_one_sentence() -> None:
    with serve_metrics(StreamsCollector("app", Instance()), "127.0.0.1:0") as port:
        assert port is not None
        with pytest.raises(SetupError, match=f"Metrics cannot be served at '127.0.0.1:{port()}'"):
            serve(f"127.0.0.1:{port()}")


def serve(address: str) -> None:
    with serve_metrics(StreamsCollector("app", Instance()), address):
        pass
