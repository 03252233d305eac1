"""`/connectors/{connector}/config`: show, replace, patch (KIP-477)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from headrace.cluster.herder import Herder
from headrace.errors import ConnectError
from headrace.rest import body, responses
from headrace.rest.public_config import PublicConfigs
from headrace.rest.resource import JsonBody, Resource
from headrace.rest.routes.connectors import created, info_body, named_config

resource = Resource("config")


@resource.get("/connectors/{connector}/config", gives={200: "Config"}, errors=[404], known=True)
def show_config(herder: Herder, request: Request, connector: str) -> Response:
    """The configuration as it was given; secrets for admins only, where users have roles."""
    return responses.ok(PublicConfigs(request)(herder.info(connector).config))


@resource.put(
    "/connectors/{connector}/config", takes="NewConfig", gives={200: "ConnectorInfo", 201: "ConnectorInfo"}, errors=[400, 409]
)
def put_config(herder: Herder, request: Request, connector: str, entity: JsonBody) -> Response:
    """Create the connector (201) or replace its configuration (200)."""
    config = named_config(connector, body.texts(entity, "the configuration"))
    new, info = herder.put_config(connector, config)
    return created(request, info) if new else responses.ok(info_body(info))


@resource.patch("/connectors/{connector}/config", takes="ConfigPatch", gives={200: "ConnectorInfo"}, errors=[400, 404, 409])
def patch_config(herder: Herder, connector: str, entity: JsonBody) -> Response:
    """Change single settings."""
    patch = body.texts(entity, "the patch")
    if patch is None:
        herder.info(connector)  # an unknown connector comes first: 404
        raise ConnectError("The request has no body; expected a JSON object of settings to change.")
    return responses.ok(info_body(herder.patch_config(connector, patch)))
