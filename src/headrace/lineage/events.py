"""Creates OpenLineage's events (spec 2-0-2) of connectors and streams applications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from openlineage.client import set_producer
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    column_lineage_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    ownership_job,
    processing_engine_run,
    schema_dataset,
    tags_job,
)
from openlineage.client.generated import lineage as lineage_facet

from headrace import __version__
from headrace.lineage.jobs import Dataset, JobLineage
from headrace.lineage.runs import RunEventPlan
from headrace.rest.traces import first_line
from headrace.transforms.column_lineage import ColumnRow
from headrace.values.times import iso

_PRODUCER = f"https://pypi.org/project/headrace/{__version__}"
set_producer(_PRODUCER)  # of the facets

_DATASET = "DATASET"
_TRANSFORMATIONS = {
    "IDENTITY": ("DIRECT", "IDENTITY"),
    "TRANSFORMATION": ("DIRECT", "TRANSFORMATION"),
    "MASKED": ("DIRECT", "TRANSFORMATION"),
    "CONDITION": ("INDIRECT", "CONDITIONAL"),
    "FILTER": ("INDIRECT", "FILTER"),
}


@dataclass(frozen=True)
class JobSettings:
    """The worker's settings for all jobs (`openlineage.integration.job.*`)."""

    namespace: str
    """Of the jobs."""
    description: str | None = None
    """Replaces the description of each job."""
    owners: Sequence[tuple[str, str]] = ()
    """Role and name."""
    tags: Sequence[tuple[str, str]] = ()
    """Key and value."""


def event(plan: RunEventPlan, job: JobLineage, settings: JobSettings) -> RunEvent:
    """The event of one job."""
    return RunEvent(
        eventType=RunState[plan.kind],
        eventTime=iso(datetime.now(UTC)),
        producer=_PRODUCER,
        run=Run(plan.run, _run_facets(plan)),
        job=Job(settings.namespace, plan.job, _job_facets(job, settings)),
        inputs=[InputDataset(*source, facets=schema_facet(job.schemas.get(source, ()))) for source in job.sources],
        outputs=[_output(target, job) for target in job.targets],
    )


def _output(target: Dataset, job: JobLineage) -> OutputDataset:
    made_of = job.targets[target] or ()
    facets = column_facets(job.columns, made_of[0] if len(made_of) == 1 else None) | schema_facet(job.schemas.get(target, ()))
    counted: dict[str, OutputDatasetFacet] = {}
    if job.written is not None:
        counted["outputStatistics"] = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=job.written)
    return OutputDataset(*target, facets=facets, outputFacets=counted)


def column_facets(columns: Sequence[ColumnRow], source: Dataset | None) -> dict[str, DatasetFacet]:
    """The column lineage facet of a dataset whose records come from another dataset."""
    if source is None or not columns:
        return {}
    fields = {
        row.column.removesuffix(".*"): column_lineage_dataset.Fields([_input(source, *origin) for origin in row.origins])
        for row in columns
        if row.column != "*" and row.origins
    }
    whole = [_input(source, *origin) for row in columns if row.column == "*" for origin in row.origins]
    return {"columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields, whole)}


def schema_facet(schemas: Sequence[Mapping[str, Any]]) -> dict[str, DatasetFacet]:
    """The schema facet of a topic whose schemas are in a registry: `key` and `value` with their fields."""
    fields = [
        schema_dataset.SchemaDatasetFacetFields(
            name=schema["part"],
            type="struct" if schema["fields"] else schema["type"],
            fields=[schema_dataset.SchemaDatasetFacetFields(field["name"], field["type"]) for field in schema["fields"]],
        )
        for schema in schemas
    ]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields)} if fields else {}


def _input(source: Dataset, column: str, how: str) -> column_lineage_dataset.InputField:
    kind, subtype = _TRANSFORMATIONS[how]
    transformation = column_lineage_dataset.Transformation(kind, subtype, "", how == "MASKED")
    return column_lineage_dataset.InputField(*source, column, [transformation])


def _job_facets(job: JobLineage, settings: JobSettings) -> dict[str, JobFacet]:
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet("STREAMING", "HEADRACE", job.kind),
        "documentation": documentation_job.DocumentationJobFacet(settings.description or job.description, "text/plain"),
    }
    entries: list[lineage_facet.LineageEntry] = [_made_of(target, sources or ()) for target, sources in job.targets.items()]
    if entries:
        facets["lineage"] = lineage_facet.LineageJobFacet(entries)
    if settings.owners:
        facets["ownership"] = ownership_job.OwnershipJobFacet([ownership_job.Owner(n, role) for role, n in settings.owners])
    if settings.tags:
        facets["tags"] = tags_job.TagsJobFacet([tags_job.TagsJobFacetFields(k, v, "HEADRACE") for k, v in settings.tags])
    return facets


def _made_of(target: Dataset, sources: Sequence[Dataset]) -> lineage_facet.LineageDatasetEntry:
    """The lineage entry of a target dataset. sources: the datasets that it comes from; empty: not known.

    Every target has an entry: a catalog assumes that a target without one comes from all inputs.
    """
    inputs: list[lineage_facet.LineageInput] = [lineage_facet.LineageDatasetInput(*source, _DATASET) for source in sources]
    return lineage_facet.LineageDatasetEntry(*target, _DATASET, inputs)


def _run_facets(plan: RunEventPlan) -> dict[str, RunFacet]:
    engine = processing_engine_run.ProcessingEngineRunFacet(__version__, "headrace")
    if plan.trace is None:
        return {"processing_engine": engine}
    error = error_message_run.ErrorMessageRunFacet(first_line(plan.trace), "Python", plan.trace)
    return {"processing_engine": engine, "errorMessage": error}
