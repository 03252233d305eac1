"""What streams applications have reported to a worker, as metrics of it: those that an instance serves itself, too. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace.rest.schemas import STREAMS_STATES
from headrace.rest.streams_reports import SILENT, state_of
from headrace.runtime.metrics.measures import STREAMS, Measure

_STATES = (*STREAMS_STATES, SILENT)
_FIGURES = {
    "batches": "batches-total", "records": "records-total", "dropped": "dropped-records-total", "batch-ms": "batch-ms",
    "lag": "record-lag", "rows-read": "rows-read-total",
}  # fmt: skip


def measures(instances: Iterable[Mapping[str, Any]]) -> Iterator[Measure]:
    """Of each instance: state, whether it works, and figures by sub-topology. instances: as `StreamsReports` gives them."""
    for instance in instances:
        labels = {"application": instance["application"], "application_instance": instance["instance"]}
        present = state_of(instance)
        for state in _STATES:
            yield Measure(STREAMS, "state", float(state == present), {**labels, "state": state})
        yield Measure(STREAMS, "active", float(bool(instance["active"]) and present != SILENT), labels)
        for name, values in instance["metrics"].items():
            of_task = {**labels, "sub_topology": name.removeprefix("sub-topology-")}
            for key, measure in _FIGURES.items():
                if key in values:
                    yield Measure(STREAMS, measure, float(values[key]), of_task)
