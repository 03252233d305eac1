"""Write the Grafana boards of deploy/grafana from the panels below: `python scripts/boards.py deploy/grafana`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_KAFKA = "kafka_connect_"
_WIDTH, _HEIGHT = 12, 8


@dataclass(frozen=True)
class Panel:
    """One panel."""

    title: str
    queries: tuple[tuple[str, str], ...]
    """PromQL and the legend of each series."""
    unit: str = "short"
    """Grafana's id of the unit."""
    kind: str = "timeseries"
    """`timeseries` or `stat`."""
    note: str = ""
    """What to make of it."""


@dataclass(frozen=True)
class Board:
    """A dashboard; the label values of its variables come from the metric behind each."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    variables: tuple[tuple[str, str], ...] = ()
    """Name of a label, and the metric that has its values."""


def _of_tasks(metric: str) -> str:
    return f'sum by (connector) ({metric}{{connector=~"$connector"}})'


def _of_mirrors(query: str) -> str:
    """The query with the legacy names, or where a mirror has none with the new ones. query: with `{}` before a metric's name."""
    return " or ".join(query.replace("{}", prefix) for prefix in (_MIRROR, _NEW_MIRROR))


_CONNECTOR = (("connector", f"{_KAFKA}connector_task_metrics_status_info"),)
_FLOW = 'source=~"$source",target=~"$target"'
_MIRROR, _NEW_MIRROR = f"{_KAFKA}mirror_mirrorsourceconnector_", f"{_KAFKA}plugins_"
"""How MirrorMaker's names begin, legacy and new (KIP-1280): `metric.names.formats` chooses one or both."""
_WORKER = f"{_KAFKA}connect_worker_metrics_"
_ERRORS = f"{_KAFKA}task_error_metrics_"
_COMMIT_FAILURES = f"{_KAFKA}connector_task_metrics_offset_commit_failure_percentage"
_REBALANCE = f"{_KAFKA}connect_worker_rebalance_metrics_"

BOARDS = (
    Board(
        "workers",
        "headrace / workers",
        (
            Panel("Workers", ((f"count({_WORKER}task_count)", "workers"),), kind="stat"),
            Panel("Failed tasks", ((f"sum({_WORKER}connector_failed_task_count)", "failed"),), kind="stat"),
            Panel("Tasks of each worker", ((f"{_WORKER}task_count", "{{instance}}"),)),
            Panel("Connectors of each worker", ((f"{_WORKER}connector_count", "{{instance}}"),)),
            Panel(
                "Rebalances",
                ((f"increase({_REBALANCE}completed_rebalances_total[5m])", "{{instance}}"),),
                note="One for each worker that comes or goes.",
            ),
            Panel("Longest rebalance", ((f"{_REBALANCE}rebalance_max_time_ms", "{{instance}}"),), "ms"),
            Panel("Start failures", ((f"increase({_WORKER}task_startup_failure_total[5m])", "{{instance}}"),)),
            Panel("Memory (Python, without the JVM)", (("process_resident_memory_bytes", "{{instance}}"),), "bytes"),
            Panel(
                "Processors (Python, without the JVM)", (("rate(process_cpu_seconds_total[5m])", "{{instance}}"),), "percentunit"
            ),
            Panel("Open files", (("process_open_fds", "open {{instance}}"), ("process_max_fds", "most {{instance}}"))),
        ),
    ),
    Board(
        "connectors",
        "headrace / connectors",
        (
            Panel(
                "Task states",
                (
                    (
                        f'count by (connector, status) ({_KAFKA}connector_task_metrics_status_info{{connector=~"$connector"}})',
                        "{{connector}} {{status}}",
                    ),
                ),
            ),
            Panel(
                "No progress while lag grows",
                ((_of_tasks("headrace_task_stalled_ms"), "{{connector}}"),),
                "ms",
                note="0 is well. A task is RUNNING and has stored no offset for this long, while its lag grew.",
            ),
            Panel(
                "Records read",
                (
                    (_of_tasks(f"{_KAFKA}source_task_metrics_source_record_poll_rate"), "{{connector}}"),
                    (_of_tasks(f"{_KAFKA}sink_task_metrics_sink_record_read_rate"), "{{connector}}"),
                ),
                "cps",
            ),
            Panel(
                "Records written",
                (
                    (_of_tasks(f"{_KAFKA}source_task_metrics_source_record_write_rate"), "{{connector}}"),
                    (_of_tasks(f"{_KAFKA}sink_task_metrics_sink_record_send_rate"), "{{connector}}"),
                ),
                "cps",
            ),
            Panel("Lag", ((_of_tasks("headrace_task_record_lag"), "{{connector}}"),)),
            Panel(
                "Freshness",
                (('max by (connector) (headrace_task_freshness_ms{connector=~"$connector"})', "{{connector}}"),),
                "ms",
                note="For how long the oldest record that is not delivered has been there; 0 if there is none.",
            ),
            Panel(
                "From a record's timestamp to its copy, 99 %",
                (
                    (
                        "histogram_quantile(0.99, sum by (connector, le) "
                        '(rate(headrace_task_record_latency_ms_bucket{connector=~"$connector"}[5m])))',
                        "{{connector}}",
                    ),
                ),
                "ms",
            ),
            Panel(
                "Offset commits that fail",
                ((f'max by (connector) ({_COMMIT_FAILURES}{{connector=~"$connector"}})', "{{connector}}"),),
                "percentunit",
            ),
            Panel(
                "Records that failed",
                (
                    (_of_tasks(f"{_ERRORS}total_record_failures"), "failed {{connector}}"),
                    (_of_tasks(f"{_ERRORS}total_records_skipped"), "skipped {{connector}}"),
                ),
            ),
            Panel("Dead letters", ((_of_tasks(f"{_ERRORS}deadletterqueue_produce_requests"), "{{connector}}"),)),
            Panel(
                "Retries and failures",
                (
                    (_of_tasks(f"{_ERRORS}total_retries"), "retries {{connector}}"),
                    (_of_tasks("headrace_task_failures_total"), "failures {{connector}}"),
                ),
            ),
            Panel("In flight", ((_of_tasks("headrace_task_in_flight_bytes"), "{{connector}}"),), "bytes"),
            Panel(
                "Paused by flow control",
                (
                    (
                        'sum by (connector) (rate(headrace_task_flow_paused_ms_total{connector=~"$connector"}[5m])) / 1000',
                        "{{connector}}",
                    ),
                ),
                "percentunit",
            ),
        ),
        _CONNECTOR,
    ),
    Board(
        "mirrors",
        "headrace / mirrors",
        (
            Panel(
                "Records copied",
                ((_of_mirrors(f"sum by (source, target) (rate({{}}record_count{{{_FLOW}}}[5m]))"), "{{source}} → {{target}}"),),
                "cps",
            ),
            Panel(
                "Bytes copied",
                ((_of_mirrors(f"sum by (source, target) (rate({{}}byte_count{{{_FLOW}}}[5m]))"), "{{source}} → {{target}}"),),
                "Bps",
            ),
            Panel(
                "Replication latency, worst partition",
                ((_of_mirrors(f"max by (topic) ({{}}replication_latency_ms_max{{{_FLOW}}})"), "{{topic}}"),),
                "ms",
            ),
            Panel(
                "Age of records when read, worst partition",
                ((_of_mirrors(f"max by (topic) ({{}}record_age_ms_max{{{_FLOW}}})"), "{{topic}}"),),
                "ms",
            ),
            Panel("Lag by partition", (("topk(20, headrace_task_partition_record_lag)", "{{connector}} {{partition}}"),)),
            Panel(
                "Ranges of records that the source has lost",
                (
                    ("headrace_task_data_losses_total", "{{connector}} {{task}}"),
                    ("headrace_task_data_loss_records_total", "records {{connector}}"),
                ),
                note="Anything but 0 is records that nobody will read again.",
            ),
        ),
        tuple((label, f'{{__name__=~"{_MIRROR}record_count|{_NEW_MIRROR}record_count"}}') for label in ("source", "target")),
    ),
    Board(
        "streams",
        "headrace / streams",
        (
            Panel("State", (("headrace_streams_state", "{{application}} {{state}}"),)),
            Panel(
                "Active instances",
                (("sum by (application) (headrace_streams_active)", "{{application}}"),),
                note="One works, the others stand by.",
            ),
            Panel(
                "Records",
                (
                    (
                        "sum by (application, sub_topology) (rate(headrace_streams_records_total[5m]))",
                        "{{application}} {{sub_topology}}",
                    ),
                ),
                "cps",
            ),
            Panel("Lag", (("headrace_streams_record_lag", "{{application}} {{sub_topology}}"),)),
            Panel("Batches", (("rate(headrace_streams_batches_total[5m])", "{{application}} {{sub_topology}}"),)),
            Panel("Time of a batch", (("headrace_streams_batch_ms", "{{application}} {{sub_topology}}"),), "ms"),
        ),
    ),
)


def render(board: Board) -> dict[str, Any]:
    """A board as Grafana imports it; the data source is asked for at the import."""
    source = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
    return {
        "__inputs": [{"name": "DS_PROMETHEUS", "label": "Prometheus", "type": "datasource", "pluginId": "prometheus"}],
        "uid": f"headrace-{board.name}",
        "title": board.title,
        "tags": ["headrace", "kafka-connect"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_variable(name, metric, source) for name, metric in board.variables]},
        "panels": [_panel(number, panel, source) for number, panel in enumerate(board.panels)],
    }


def _variable(name: str, metric: str, source: dict[str, str]) -> dict[str, Any]:
    query = f"label_values({metric}, {name})"
    more = {"refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*"}
    return {"name": name, "type": "query", "datasource": source, "query": query, "definition": query, **more}


def _panel(number: int, panel: Panel, source: dict[str, str]) -> dict[str, Any]:
    place = {"x": number % 2 * _WIDTH, "y": number // 2 * _HEIGHT, "w": _WIDTH, "h": _HEIGHT}
    targets = [
        {"refId": chr(ord("A") + n), "datasource": source, "expr": expr, "legendFormat": legend}
        for n, (expr, legend) in enumerate(panel.queries)
    ]
    body = {
        "id": number + 1,
        "title": panel.title,
        "type": panel.kind,
        "datasource": source,
        "gridPos": place,
        "targets": targets,
    }
    return body | {"description": panel.note, "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []}}


def text(board: Board) -> str:
    """The file of a board."""
    return json.dumps(render(board), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in BOARDS:
        Path(sys.argv[1], f"{one.name}.json").write_text(text(one), encoding="utf-8")
