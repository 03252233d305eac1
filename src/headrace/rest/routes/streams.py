"""`/headrace/streams`: streams applications that report to a worker (of headrace)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from headrace.config.redaction import redacted
from headrace.errors import BadRequestError, ConnectError, RestError
from headrace.rest import body, responses
from headrace.rest.herder import RestHerder
from headrace.rest.resource import OwnJsonBody, Resource
from headrace.rest.schemas import STREAMS_STATES
from headrace.rest.streams_reports import GroupReports, applications

_LARGEST = 256 << 10


class TopicReport(BaseModel):
    """An internal topic as the application wants it, and how it is."""

    model_config = ConfigDict(extra="ignore")
    name: str
    kind: str
    partitions: int
    replication_factor: int
    configs: dict[str, str | None] = Field(default_factory=dict)
    state: str
    problems: list[str] = Field(default_factory=list)


class InstanceReport(BaseModel):
    """What an instance reports (`headrace.streams.worker_report`)."""

    model_config = ConfigDict(extra="ignore")
    version: str
    state: Literal[STREAMS_STATES]  # type: ignore[valid-type]
    active: bool
    paused: bool
    error: str | None
    setup: str
    topology: str
    internal_topics: list[TopicReport] | None
    problem: str | None
    metrics: dict[str, dict[str, float]]


def resource(group: GroupReports) -> Resource:
    """The resource of a worker of this group."""
    made = Resource("streams")

    @made.put("/headrace/streams/{application}/{instance}", takes="StreamsReport", gives={204: None}, errors=[400, 413, 429])
    def report(herder: RestHerder, application: str, instance: str, entity: OwnJsonBody) -> Response:
        """A report of an instance of an application; it counts for 35 s, and is forgotten after 15 min."""
        group.own.put(application, instance, _parsed(entity))
        return responses.done(204)

    @made.get("/headrace/streams", gives={200: "StreamsApplications"})
    def streams(herder: RestHerder, request: Request, forward: str = "") -> Response:
        """The applications that report to any worker (`forward=false`: to this): state, topology, internal topics, lag."""
        own = group.own.instances()
        if forward.lower() == "false":
            return responses.ok({"instances": own, "applications": redacted(applications(own)), "not_reached": []})
        instances, silent = group.instances(herder, request)
        return responses.ok({"instances": own, "applications": redacted(applications(instances)), "not_reached": silent})

    return made


def _parsed(entity: body.Tree) -> dict[str, Any]:
    try:
        report = InstanceReport.model_validate(body.plain(entity))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the report"
        raise BadRequestError(f"This is no report of a streams application: {place}: {first['msg']}.") from None
    except ConnectError as error:
        raise BadRequestError(error.message) from None
    if len(report.model_dump_json()) > _LARGEST:
        raise RestError(413, f"The report is larger than {_LARGEST >> 10} KiB, the most that is taken.")
    return report.model_dump(mode="json")
