"""The bodies of OpenLineage's events (spec 2-0-2), of connectors and their topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from openlineage.client import set_producer
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
    column_lineage_dataset,
    error_message_run,
    job_type_job,
    processing_engine_run,
    schema_dataset,
)

from headrace import __version__
from headrace.lineage.runs import RunEventPlan
from headrace.rest.lineage import EXTERNAL, TOPIC, Lineage, LineageNode
from headrace.rest.overview import first_line
from headrace.transforms.column_lineage import ColumnRow

_PRODUCER = f"https://pypi.org/project/headrace/{__version__}"
set_producer(_PRODUCER)  # of the facets

Dataset = tuple[str, str]
"""Namespace and name."""
_TRANSFORMATIONS = {
    "IDENTITY": ("DIRECT", "IDENTITY"),
    "TRANSFORMATION": ("DIRECT", "TRANSFORMATION"),
    "MASKED": ("DIRECT", "TRANSFORMATION"),
    "CONDITION": ("INDIRECT", "CONDITIONAL"),
    "FILTER": ("INDIRECT", "FILTER"),
}


def event(
    plan: RunEventPlan,
    lineage: Lineage,
    namespace: str,
    clusters: Mapping[str | None, str],
    columns: Sequence[ColumnRow] = (),
) -> RunEvent:
    """The event of one connector.

    lineage: what it reads and writes; namespace: of the job; clusters: bootstrap servers by the place of a topic, None: of the
    workers; columns: of which columns those of its records are made.
    """
    here = f"connector:{plan.connector}"
    nodes = {node.id: node for node in lineage.nodes}
    sources = [nodes[edge.source] for edge in lineage.edges if edge.target == here]
    targets = [nodes[edge.target] for edge in lineage.edges if edge.source == here]
    schemas = {place: schema_facet(node) for node in (*sources, *targets) for place in _places([node], clusters) if node.schemas}
    read, written = _places(sources, clusters), _places(targets, clusters)
    return RunEvent(
        eventType=RunState[plan.kind],
        eventTime=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        producer=_PRODUCER,
        run=Run(plan.run, _run_facets(plan)),
        job=Job(namespace, plan.connector, {"jobType": _job_type()}),
        inputs=[InputDataset(*place, facets=schemas.get(place, {})) for place in read],
        outputs=[
            OutputDataset(*place, facets=column_facets(columns, origin(place, read)) | schemas.get(place, {}))
            for place in written
        ],
    )


def origin(target: Dataset, sources: Sequence[Dataset]) -> Dataset | None:
    """The dataset that another is a copy of: the only one that is read, or the one whose name it ends with; None: not known."""
    if len(sources) == 1:
        return sources[0]
    alike = [source for source in sources if target[1].endswith(source[1])]
    return max(alike, key=lambda source: len(source[1]), default=None)


def column_facets(columns: Sequence[ColumnRow], source: Dataset | None) -> dict[str, DatasetFacet]:
    """The facet of a dataset whose records are made of those of another."""
    if source is None or not columns:
        return {}
    fields = {
        row.column.removesuffix(".*"): column_lineage_dataset.Fields([_input(source, *one) for one in row.origins])
        for row in columns
        if row.column != "*" and row.origins
    }
    whole = [_input(source, *one) for row in columns if row.column == "*" for one in row.origins]
    return {"columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields, whole)}


def schema_facet(node: LineageNode) -> dict[str, DatasetFacet]:
    """The facet with the columns of a topic whose schemas are in a registry: `key` and `value`, and what is in them."""
    fields = [
        schema_dataset.SchemaDatasetFacetFields(
            name=schema["part"],
            type="struct" if schema["fields"] else schema["type"],
            fields=[schema_dataset.SchemaDatasetFacetFields(one["name"], one["type"]) for one in schema["fields"]],
        )
        for schema in node.schemas
    ]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields)} if fields else {}


def _input(source: Dataset, column: str, how: str) -> column_lineage_dataset.InputField:
    kind, subtype = _TRANSFORMATIONS[how]
    made = column_lineage_dataset.Transformation(kind, subtype, "", how == "MASKED")
    return column_lineage_dataset.InputField(*source, column, [made])


def _job_type() -> job_type_job.JobTypeJobFacet:
    return job_type_job.JobTypeJobFacet("STREAMING", "HEADRACE", "CONNECTOR")


def _run_facets(plan: RunEventPlan) -> dict[str, RunFacet]:
    engine = processing_engine_run.ProcessingEngineRunFacet(__version__, "headrace")
    if plan.trace is None:
        return {"processing_engine": engine}
    error = error_message_run.ErrorMessageRunFacet(first_line(plan.trace), "Python", plan.trace)
    return {"processing_engine": engine, "errorMessage": error}


def _places(nodes: Iterable[LineageNode], clusters: Mapping[str | None, str]) -> list[Dataset]:
    """Namespace and name of each dataset, as OpenLineage's naming conventions have them for Kafka and files."""
    places = []
    for node in nodes:
        if node.kind == TOPIC:
            places.append((f"kafka://{_first(clusters.get(node.place) or node.place or '')}", node.name))
        elif node.kind == EXTERNAL:
            places.append(_table(node.place, node.name) if node.place else ("file", node.name))
    return places


def _table(place: str, name: str) -> Dataset:
    """Of PostgreSQL `postgres://host:port` and `database.schema.table`; of others as far as their addresses are alike."""
    scheme, _, rest = place.partition("://")
    host, _, database = rest.partition("/")
    table = name if "." in name or scheme != "postgresql" else f"public.{name}"
    return f"{scheme.replace('postgresql', 'postgres')}://{host}", f"{database}.{table}" if database else table


def _first(servers: str) -> str:
    """The first of some bootstrap servers, without a protocol before it."""
    return servers.split(",")[0].strip().rpartition("://")[2]
