"""`/headrace/streams`: streams applications that report to a worker (of headrace)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.config.redaction import redacted
from headrace.errors import BadRequestError, ConnectError, ElsewhereError, RestError
from headrace.rest import body, responses
from headrace.rest.caller import caller_of
from headrace.rest.resource import OwnJsonBody, Resource
from headrace.rest.schemas import STREAMS_STATES
from headrace.rest.streams_commands import CommandRequest, StreamsCommands, instance_for
from headrace.rest.streams_reports import GroupReports, applications

_LARGEST = 256 << 10
Model = TypeVar("Model", bound=BaseModel)


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


class CommandReport(BaseModel):
    """What became of a command (`headrace.streams.worker_commands`)."""

    model_config = ConfigDict(extra="ignore")
    id: str
    ok: bool
    message: str
    topics: list[str] = Field(default_factory=list)


_Measured = Annotated[float, Field(ge=1 - 2**53, le=2**53 - 1)]
"""What a double holds exactly, so that a sum of them is a number."""


class InstanceReport(BaseModel):
    """What an instance reports (`headrace.streams.worker_report`)."""

    model_config = ConfigDict(extra="ignore")
    version: str
    state: Literal[STREAMS_STATES]  # type: ignore[valid-type]
    active: bool
    paused: bool
    error: str | None
    setup: str
    servers: str = ""
    topology: str
    internal_topics: list[TopicReport] | None
    problem: str | None
    metrics: dict[str, dict[str, _Measured]]
    results: list[CommandReport] = Field(default_factory=list)


class StreamsCommandBody(BaseModel):
    """The body of a command."""

    model_config = ConfigDict(extra="forbid", strict=True)
    command: Literal["init", "verify"]
    setup_if_incomplete: bool = False
    dry_run: bool = False


def resource(group: GroupReports) -> Resource:
    """The resource of a worker of this group."""
    resource, commands = Resource("streams"), StreamsCommands()

    @resource.put(
        "/headrace/streams/{application}/{instance}",
        takes="StreamsReport", gives={200: "StreamsCommandsDue", 204: None}, errors=[400, 413, 429],
    )  # fmt: skip
    def report(herder: Herder, application: str, instance: str, entity: OwnJsonBody) -> Response:
        """A report of an instance of an application; it counts for 35 s, and is forgotten after 15 min.

        The answer has what the instance is asked to do, if there is anything; what becomes of it belongs into a later report.
        """
        parsed = _parsed(entity)
        results = parsed.pop("results")
        group.own.put(application, instance, parsed)
        due = commands.exchange(application, instance, results)
        return responses.ok({"commands": due}) if due else responses.done(204)

    @resource.get("/headrace/streams", gives={200: "StreamsApplications"})
    def streams(herder: Herder, request: Request, forward: str = "") -> Response:
        """The applications that report to any worker (`forward=false`: to this): state, topology, internal topics, lag."""
        here, pending = group.own.instances(), commands.all()
        body_of_worker = {"instances": here, "commands": pending, "applications": applications(here, pending), "not_reached": []}
        if forward.lower() != "false":
            reported = group.read(herder, request, pending)
            body_of_worker["applications"] = applications(reported.instances, reported.commands)
            body_of_worker["not_reached"] = reported.not_reached
        return responses.ok(body_of_worker | {"applications": redacted(body_of_worker["applications"])})

    @resource.post(
        "/headrace/streams/{application}/commands",
        takes="StreamsCommandRequest", gives={202: "StreamsCommand"}, errors=[400, 404, 409],
    )  # fmt: skip
    def ask(herder: Herder, application: str, request: Request, entity: OwnJsonBody, forward: str = "") -> Response:
        """Have an instance of an application verify its internal topics, or create them (KIP-698), with its own rights.

        It is asked with the answer to its next report, within ten seconds; `GET /headrace/streams` says what became of it.
        """
        command = CommandRequest(**_model(StreamsCommandBody, entity, "command for a streams application").model_dump())
        instances = group.own.instances() if forward else group.read(herder, request, []).instances
        instance = instance_for(application, command, instances)
        if (worker_id := instance.get("reported_to", herder.worker_id)) != herder.worker_id:
            raise ElsewhereError(f"The application reports to the worker {worker_id}.", group.others.url_of(worker_id))
        return responses.ok(commands.ask(application, instance["instance"], command, caller_of(request.scope).name), 202)

    return resource


def _parsed(entity: body.Tree) -> dict[str, Any]:
    report = _model(InstanceReport, entity, "report of a streams application")
    if len(report.model_dump_json()) > _LARGEST:
        raise RestError(413, f"The report is larger than {_LARGEST >> 10} KiB, the most that is taken.")
    return report.model_dump(mode="json")


def _model(model: type[Model], entity: body.Tree, name: str) -> Model:
    """Raises BadRequestError."""
    try:
        return model.model_validate(body.plain(entity))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the body"
        raise BadRequestError(f"This is no {name}: {place}: {first['msg']}.") from None
    except ConnectError as error:
        raise BadRequestError(error.message) from None
