"""Whether an OpenLineage event is valid: by the typed facets of its client, and by the specification's JSON Schemas.

The schemas are in no package: `schemas` has those of the facets that headrace sends, with a note of where they are from.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attr
from jsonschema_rs import Draft202012Validator, Registry
from openlineage.client import event_v2, generated

_SCHEMAS = Path(__file__).parent / "schemas"
_EVENT = "OpenLineage.json#/$defs/RunEvent"
_OF_ALL_FACETS = ("_producer", "_schemaURL", "_deleted")


def problems(event: Any) -> Iterator[str]:
    """What in an event, and in each of its facets, is not as it has to be."""
    yield from _typed_problems(event)
    yield from _schema_problems(event)


# ------------------------------------------------------------------------------------------------- the client's types
def _facet_classes() -> dict[str, type[Any]]:
    """The classes of facets by the address of their schema."""
    modules = [
        importlib.import_module(f"{generated.__name__}.{module_info.name}")
        for module_info in pkgutil.iter_modules(generated.__path__)
    ]
    classes = [cls for module in modules for cls in vars(module).values() if isinstance(cls, type) and attr.has(cls)]
    return {getattr(cls, "_get_schema")(): cls for cls in classes if hasattr(cls, "_get_schema")}  # noqa: B009


def _typed_problems(event: Any) -> Iterator[str]:
    try:
        event_v2.RunEvent(
            eventTime=event["eventTime"], producer=event["producer"], eventType=event_v2.RunState[event["eventType"]],
            run=event_v2.Run(event["run"]["runId"]), job=event_v2.Job(event["job"]["namespace"], event["job"]["name"]),
        )  # fmt: skip
    except (ValueError, KeyError) as error:
        yield f"the event: {error}"
    for dataset in (*event["inputs"], *event["outputs"]):
        yield from (f"dataset: {name} is no text" for name in ("namespace", "name") if not isinstance(dataset.get(name), str))
    classes = _facet_classes()
    for name, facet in _facets(event):
        kind = classes.get(facet["_schemaURL"])
        if kind is None:
            yield f"{name}: there is no facet {facet['_schemaURL']}"
        else:
            yield from (
                f"{name}: {problem}" for problem in _misfits({k: v for k, v in facet.items() if k not in _OF_ALL_FACETS}, kind)
            )


def _misfits(value: Any, kind: Any) -> Iterator[str]:
    """What in a value, as JSON has it, does not fit a type of the client."""
    if attr.has(kind):
        yield from _object_misfits(value, kind)
    elif get_origin(kind) in (Union, UnionType):
        result = [list(_misfits(value, argument)) for argument in get_args(kind)]
        yield from min(result, key=len)
    elif get_origin(kind) is Literal:
        yield from () if value in get_args(kind) else (f"{value!r} is none of {get_args(kind)}",)
    elif get_origin(kind) is list:
        yield from (
            (problem for member in value for problem in _misfits(member, get_args(kind)[0]))
            if isinstance(value, list)
            else ("no list",)
        )
    elif get_origin(kind) is dict:
        yield from (problem for member in value.values() for problem in _misfits(member, get_args(kind)[1]))
    elif isinstance(kind, type) and not isinstance(value, kind):
        yield f"{value!r} is no {kind.__name__}"


def _object_misfits(value: Any, kind: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{value!r} is no {kind.__name__}"
        return
    types = get_type_hints(kind)
    fields = {field.name: field for field in attr.fields(kind) if field.name not in _OF_ALL_FACETS}
    yield from (f"{name} is no field of {kind.__name__}" for name in value.keys() - fields.keys())
    for name, field in fields.items():
        if name in value:
            yield from (f"{name}: {problem}" for problem in _misfits(value[name], types[name]))
        elif field.default is attr.NOTHING:
            yield f"{kind.__name__} has no {name}"


# ------------------------------------------------------------------------------------------------- the specification's schemas
def _schema_problems(event: Any) -> Iterator[str]:
    schemas = [json.loads(file.read_text(encoding="utf-8")) for file in _SCHEMAS.glob("*.json")]
    known_schemas = {schema["$id"]: schema for schema in schemas}
    registry = Registry(list(known_schemas.items()))
    base = next(url for url in known_schemas if url.endswith("/OpenLineage.json"))
    yield from _errors(event, base.removesuffix("OpenLineage.json") + _EVENT, registry)
    for name, facet in _facets(event):
        url = facet["_schemaURL"]
        if url.partition("#")[0] not in known_schemas:
            yield f"{name}: there is no schema {url}"
        else:
            yield from (f"{name}: {error}" for error in _errors(facet, url, registry))


def _errors(value: Any, url: str, registry: Registry) -> Iterator[str]:
    for error in Draft202012Validator({"$ref": url}, registry=registry, validate_formats=True).iter_errors(value):
        yield f"{'/'.join(map(str, error.instance_path))}: {error.message}"


def _facets(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, list):
        for item in node:
            yield from _facets(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, dict) and "_schemaURL" in value:
                yield key, value
            yield from _facets(value)
