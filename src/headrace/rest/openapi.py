"""The OpenAPI document: FastAPI knows paths and parameters; what is taken and given is what the routes declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from headrace.cluster.recent_events import IN_MEMORY
from headrace.rest.media_types import JSON
from headrace.rest.resource import Resource, Route
from headrace.rest.schemas import SCHEMAS, ref

_ERRORS = {
    400: "The request, or the configuration in it, is wrong; the message says how.",
    403: "Not allowed, by the worker's settings or for want of a signature.",
    404: "There is no such connector, task, plugin or logger.",
    406: "The client does not accept JSON.",
    409: "The name is taken, or the workers are just sharing out their work: try again.",
    413: "The body is too large.",
    415: "The body is not called JSON by its Content-Type.",
    429: "There is too much of it already; the message says of what.",
    500: "The request could not be carried out. As in Kafka Connect, also a body that is not the JSON wanted.",
    503: "The worker is still starting.",
}
_EXPAND: Mapping[str, Any] = {
    "name": "expand",
    "in": "query",
    "description": "What to give of each connector; may be repeated (KIP-465).",
    "schema": {"type": "array", "items": {"type": "string", "examples": ["status", "info"]}},
}
_QUERY: Mapping[str, str] = {
    "includeTasks": "Restart the tasks as well; anything but `true` is false.",
    "onlyFailed": "Restart only what has failed; anything but `true` is false.",
    "connectorsOnly": "Leave out what is no connector; anything but `true` or nothing is false.",
    "version": "The version, or a range of versions, that the plugin must have (KIP-891).",
    "names": "`kafka` or `strimzi` (docs/metrics.md).",
    "lines": "How many entries at most, 200 by default, at most 1000.",
    "level": "The lowest level of an entry.",
    "task": "Of this task only.",
    "freshness": "`false`: without times, for which records of the source are read.",
    "q": "A text in the name, class, topics, workers or problem.",
    "state": "Connectors in this state only.",
    "type": "`source` or `sink`.",
    "sort": "A column, with a minus before it to turn it round; by default what has failed comes first.",
    "page": "From 1 on.",
    "user": "By this user only.",
    "connector": "Of this connector only.",
    "topic": "What this topic reaches.",
    "count": "How many at most, 50 by default, at most 500.",
    "before": "Those before this place, which an earlier answer named.",
    "forward": "`false`: only what this worker has itself.",
    "points": "How many samples of each connector, at most 360.",
    "scope": "`cluster` for all workers (KIP-976); all else is this one.",
}
_LINES_OF_EVENTS = f"How many entries at most, 200 by default, at most {IN_MEMORY}."
_TIME = "Those before this time (ISO 8601), as an answer names it for the page before."
_QUERY_OF_PATH: Mapping[str, Mapping[str, str]] = {
    "/headrace/audit": {"lines": _LINES_OF_EVENTS, "before": _TIME},
    "/headrace/connectors/{connector}/history": {"lines": _LINES_OF_EVENTS, "before": _TIME},
    "/headrace/lineage": {"connector": "What this connector reaches."},
}
"""What parameters mean on certain paths only."""
_SECURED: dict[str, Any] = {"security": [{"basic": []}]}
_SCHEMES: dict[str, Any] = {"securitySchemes": {"basic": {"type": "http", "scheme": "basic"}}}


def describe(app: FastAPI, resources: Sequence[Resource], secured: bool) -> None:
    """Serve the OpenAPI document of these mounted resources at `/openapi.json`. secured: whether users have to authenticate."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, resources) | (_SECURED if secured else {})
            app.openapi_schema["components"] |= _SCHEMES if secured else {}
        return app.openapi_schema

    app.openapi = document


def _document(app: FastAPI, resources: Sequence[Resource]) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    document["components"] = {"schemas": SCHEMAS}
    document["tags"] = [{"name": resource.tag} for resource in resources]
    for resource in resources:
        for route in resource.routes:
            operation = document["paths"][route.path][route.method.lower()]
            operation["operationId"] = route.name
            operation["responses"] = dict(_responses(route, resource.early))
            operation["parameters"] = [_parameter(route.path, p) for p in operation.get("parameters", ())]
            if route.takes:
                operation["requestBody"] = {"required": True, "content": {JSON: {"schema": ref(route.takes)}}}
    document["paths"]["/connectors"]["get"]["parameters"] = [_EXPAND] if "/connectors" in document["paths"] else []
    return document


def _parameter(path: str, parameter: Mapping[str, Any]) -> dict[str, Any]:
    texts = {**_QUERY, **_QUERY_OF_PATH.get(path, {})} if parameter["in"] == "query" else {}
    described: dict[str, Any] = {"description": texts[parameter["name"]]} if parameter["name"] in texts else {}
    if parameter["schema"].get("type") == "boolean":  # JAX-RS reads any text as one
        described["schema"] = {"anyOf": [{"type": "boolean"}, {"type": "string"}], "default": parameter["schema"]["default"]}
    return {**parameter, **described}


def _responses(route: Route, early: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for status, schema in route.gives.items():
        yield str(status), _response(HTTPStatus(status).phrase, schema)
    always = {400, 406, 500} | ({413, 415} if route.takes else set()) | (set() if early else {503})
    for status in sorted((always | set(route.errors)) - route.gives.keys()):
        yield str(status), _response(_ERRORS[status], "Error")


def _response(description: str, schema: str | None) -> dict[str, Any]:
    if schema is None:
        return {"description": description}
    kind = "text/plain" if schema == "Text" else JSON
    return {"description": description, "content": {kind: {"schema": ref(schema)}}}
