"""OpenLineage's JSON Schemas, of a copy of its `spec` folder that HEADRACE_OPENLINEAGE_SPEC names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft202012Validator, Registry

FOLDER = os.environ.get("HEADRACE_OPENLINEAGE_SPEC")
_EVENT = "OpenLineage.json#/$defs/RunEvent"


def problems(event: Any) -> Iterator[str]:
    """What in an event, and in each of its facets, is not as its schema says."""
    schemas = [json.loads(file.read_text()) for file in Path(FOLDER or "").rglob("*.json") if "tests" not in file.parts]
    known = {schema["$id"]: schema for schema in schemas if isinstance(schema, dict) and "$id" in schema}
    registry = Registry(list(known.items()))
    base = next(url for url in known if url.endswith("/OpenLineage.json"))
    yield from _errors(event, base.removesuffix("OpenLineage.json") + _EVENT, registry)
    for name, facet in _facets(event):
        url = facet["_schemaURL"]
        if url.partition("#")[0] not in known:
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
