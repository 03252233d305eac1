"""`/connectors` and `/connectors/{connector}`: list, create, show, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.cluster.rest_bodies import ConnectorInfo
from headrace.config.types import trim
from headrace.errors import BadRequestError, ConnectError, NotFoundError
from headrace.rest import body, responses
from headrace.rest.location import connector_location
from headrace.rest.public_config import PublicConfigs
from headrace.rest.resource import JsonBody, Resource
from headrace.rest.routes.offsets import Json, OffsetChange, offset_changes

INITIAL_STATES = ("RUNNING", "PAUSED", "STOPPED")

resource = Resource("connectors")


@resource.get("/connectors", gives={200: "Connectors"})
def list_connectors(herder: Herder, request: Request) -> Response:
    """The names; with `?expand=status` and/or `?expand=info` an object with these of each connector (KIP-465)."""
    names = herder.connectors()
    if "expand" not in request.query_params:
        return responses.ok(names)
    views, public = request.query_params.getlist("expand"), PublicConfigs(request)
    return responses.ok({name: expanded for name in names if (expanded := _expand(herder, name, views, public)) is not None})


def _expand(herder: Herder, name: str, shown: list[str], public: PublicConfigs) -> Json | None:
    try:
        views = {"status": herder.status, "info": lambda name: info_body(herder.info(name), public)}
        return {view: views[view](name) for view in shown if view in views}
    except NotFoundError:  # deleted meanwhile
        return None


@resource.post("/connectors", takes="NewConnector", gives={201: "ConnectorInfo"}, errors=[400, 409])
def create_connector(herder: Herder, request: Request, entity: JsonBody) -> Response:
    """Create a connector; `initial_state` (KIP-980) may be left out.

    With `connector.initial.offsets.enable=true`: `initial_offsets` (KIP-995), where it begins, in the form of
    `PATCH /connectors/{connector}/offsets`; `offsets_status` of the answer says whether they have been set.
    """
    more = ("initial_offsets",) if request.app.state.takes_initial_offsets else ()
    fields = body.mapping(entity, "the request", ("config", "name", "initial_state", *more))
    if fields is None:
        raise ConnectError('The request has no body; expected {"name": …, "config": {…}}.')
    name = trim(body.text(fields.get("name"), '"name"') or "")
    state = _initial_state(body.text(fields.get("initial_state"), '"initial_state"'))
    config = named_config(name, body.texts(fields.get("config"), '"config"'))
    if changes := _initial_offsets(fields):
        info, status = _created_at(herder, name, config, state, changes)
        return created(request, info, {"offsets_status": status})
    return created(request, herder.create(name, config, state))


@resource.get("/connectors/{connector}", gives={200: "ConnectorInfo"}, errors=[404], known=True)
def show_connector(herder: Herder, request: Request, connector: str) -> Response:
    """Configuration, tasks and type of a connector; secrets for admins only, where users have roles."""
    return responses.ok(info_body(herder.info(connector), PublicConfigs(request)))


@resource.delete("/connectors/{connector}", gives={204: None}, errors=[404, 409])
def delete_connector(herder: Herder, connector: str) -> Response:
    """Delete a connector; its offsets stay."""
    herder.delete(connector)
    return responses.done(204)


def _initial_offsets(fields: Mapping[str, body.Tree]) -> list[OffsetChange]:
    """Raises BadRequestError."""
    try:
        return offset_changes(fields.get("initial_offsets"), '"initial_offsets"')
    except ConnectError as error:
        raise BadRequestError(error.message) from None


def _created_at(
    herder: Herder, name: str, config: Mapping[str, str | None], state: str | None, changes: list[OffsetChange]
) -> tuple[ConnectorInfo, str]:
    """Create a connector that begins at these offsets; nothing is left of it if it refuses them."""
    info = herder.create(name, config, "STOPPED")
    try:
        status = herder.alter_offsets(name, changes)
    except BaseException:
        herder.delete(name)
        raise
    if state != "STOPPED":
        (herder.pause if state == "PAUSED" else herder.resume)(name)
    return info, status


def info_body(info: ConnectorInfo, public: Callable[[Mapping[str, str | None]], Json] = dict) -> Json:
    """A connector as JSON. public: makes of its configuration what is shown of it."""
    tasks = [{"connector": connector, "task": task} for connector, task in info.tasks]
    return {"name": info.name, "config": public(info.config), "tasks": tasks, "type": info.type}


def created(request: Request, info: ConnectorInfo, more: Json | None = None) -> Response:
    """The answer to the creation of a connector, with its Location at the address that the client has used.

    more: further fields of the body.
    """
    base = f"{request.url.scheme}://{request.url.netloc}"
    return responses.ok(info_body(info) | (more or {}), 201, connector_location(base, info.name))


def named_config(name: str, config: dict[str, str | None] | None) -> dict[str, str | None]:
    """The configuration with `name` in it, at the end if it was not there.

    Raises ConnectError (500, as Connect) without a configuration, BadRequestError if it holds another name.
    """
    if config is None:
        raise ConnectError("The request has no configuration; expected a JSON object of settings.")
    included = config.get("name")
    if included is not None and included != name:
        raise BadRequestError(f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})")
    return {**config, "name": name}


def _initial_state(text: str | None) -> str | None:
    if text is not None and text.upper() not in INITIAL_STATES:
        raise ConnectError(f"No such initial_state: {text!r}; expected one of {', '.join(INITIAL_STATES)}.")
    return text and text.upper()
