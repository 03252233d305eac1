"""GET /metrics as Prometheus reads it."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headrace.runtime.metrics.events import Batch
from tests.rest.conftest import Answer, Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_page import STREAMS

TASK = {"connector": "c", "task": "0"}


@pytest.fixture
def measured(herder: MemoryHerder) -> MemoryHerder:
    herder.metrics.connector("c", "source", "org.x.Source", "1.2")
    herder.metrics.connector_state("c", "RUNNING")
    herder.metrics.task("c", 0, "source").record(Batch(read=5, written=4, took_ms=1, failed=1))
    herder.metrics.task_state("c", 0, "FAILED", 'say "no"\n')
    herder.metrics.gauge("connect-worker-rebalance-metrics", "completed-rebalances-total", lambda: 2)
    herder.metrics.gauge("connect-worker-rebalance-metrics", "leader-name", lambda: "w:1")
    return herder


def parsed(answer: Answer) -> tuple[dict[str, str], dict[tuple[str, frozenset[tuple[str, str]]], float]]:
    """Types by family, and values by name and labels."""
    assert answer.status == 200
    families = list(text_string_to_metric_families(answer.text))
    samples = {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}
    return {family.name: family.type for family in families}, samples


def test_names_are_those_of_kafka_connects_mbeans(measured: MemoryHerder, call: Client) -> None:
    types, samples = parsed(call("GET", "/metrics"))

    def value(name: str, **labels: str) -> float:
        return samples[name, frozenset(labels.items())]

    assert value("kafka_connect_connect_worker_metrics_connector_count") == 1
    assert value("kafka_connect_connect_worker_metrics_connector_failed_task_count", connector="c") == 1
    assert value("kafka_connect_source_task_metrics_source_record_write_total", **TASK) == 4
    assert value("kafka_connect_connector_task_metrics_status_info", status="failed", **TASK) == 1
    assert value("kafka_connect_connector_metrics", connector="c", connector_class="org.x.Source") == 1
    assert value("kafka_connect_connector_metrics_status_info", connector="c", status="running") == 1
    assert value("kafka_connect_task_error_metrics_total_record_errors", **TASK) == 1
    assert value("kafka_connect_connect_worker_rebalance_metrics_completed_rebalances_total") == 2
    assert value("kafka_connect_connect_worker_rebalance_metrics_leader_name_info", leader_name="w:1") == 1
    assert value("headrace_task_last_error_info", last_error='say "no"\n', **TASK) == 1
    assert value("process_resident_memory_bytes") > 0
    assert types["kafka_connect_source_task_metrics_source_record_write"] == "counter"
    assert types["kafka_connect_source_task_metrics_source_record_write_rate"] == "gauge"


def test_the_names_of_strimzis_rules_are_there_for_who_asks(measured: MemoryHerder, call: Client) -> None:
    types, samples = parsed(call("GET", "/metrics?names=strimzi"))
    found = {
        ("kafka_connect_worker_connector_count", frozenset()): 1,
        ("kafka_connect_worker_connector_failed_task_count", frozenset({("connector", "c")})): 1,
        ("kafka_connect_connector_status", frozenset({("connector", "c"), ("status", "running")})): 1,
        ("kafka_connect_connector_connector_type", frozenset({("connector", "c"), ("connector_type", "source")})): 1,
        ("kafka_connect_connector_task_status", frozenset({*TASK.items(), ("status", "failed")})): 1,
        ("kafka_connect_source_task_source_record_write_total", frozenset(TASK.items())): 4,
        ("kafka_connect_task_error_total_record_failures", frozenset(TASK.items())): 1,
        ("kafka_connect_worker_rebalance_completed_rebalances_total", frozenset()): 2,
        ("kafka_connect_worker_rebalance_leader_name", frozenset({("leader_name", "w:1")})): 1,
        ("headrace_task_failures_total", frozenset(TASK.items())): 1,
    }
    assert found.items() <= samples.items()
    assert types["kafka_connect_source_task_source_record_write"] == "counter"
    assert not any("_metrics_" in name for name in types)


def test_no_name_has_two_types_or_comes_twice(measured: MemoryHerder, call: Client) -> None:
    for query in ("", "?names=strimzi"):
        lines = call("GET", "/metrics" + query).text.split("\n")  # what other tests report may have U+2028 in its name
        heads = [line for line in lines if line.startswith("# TYPE ")]
        assert len(heads) == len({head.split()[2] for head in heads})
        series = [line.rpartition(" ")[0] for line in lines if line and not line.startswith("#")]
        assert len(series) == len(set(series))


def test_unknown_names_are_refused(call: Client) -> None:
    answer = call("GET", "/metrics?names=mine")
    assert (answer.status, answer.message) == (400, "There are no names 'mine' of metrics; `names` is one of kafka, strimzi.")


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        (None, "text/plain; version="),
        ("text/plain", "text/plain; version="),
        ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5,*/*;q=0.1", "application/openmetrics-text; version=1.0.0"),
    ],
)
def test_the_format_is_the_one_that_is_asked_for(accept: str | None, given: str, measured: MemoryHerder, call: Client) -> None:
    answer = call("GET", "/metrics", headers={} if accept is None else {"Accept": accept})
    assert answer.status == 200
    assert answer.headers["content-type"].startswith(given)


def test_it_answers_while_the_worker_starts(herder: MemoryHerder, call: Client) -> None:
    herder.up = False
    assert call("GET", "/metrics").status == 200


def test_applications_that_report_to_a_worker_are_in_its_metrics(call: Client) -> None:
    assert call("PUT", "/headrace/streams/app/one", STREAMS | {"results": []}).status == 204
    types, samples = parsed(call("GET", "/metrics"))
    of = {"application": "app", "application_instance": "one"}
    assert samples["headrace_streams_state", frozenset({**of, "state": "RUNNING"}.items())] == 1
    assert samples["headrace_streams_state", frozenset({**of, "state": "SILENT"}.items())] == 0
    assert samples["headrace_streams_active", frozenset(of.items())] == 1
    assert samples["headrace_streams_record_lag", frozenset({**of, "sub_topology": "0"}.items())] == 3
    assert types["headrace_streams_records"] == "counter"
