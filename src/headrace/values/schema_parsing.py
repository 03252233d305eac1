"""Connect's schemas from JSON text."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from headrace.errors import DataError
from headrace.values.java_integers import wrapped
from headrace.values.schema import JSON_NAMES, TYPES, Schema, SchemaBuilderError, add_field
from headrace.values.schema_defaults import default_of

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_FROM_JSON = {JSON_NAMES.get(t, t): t for t in TYPES}


def parse(text: str) -> Schema | None:
    """The schema that a JSON text describes, None for null (`JsonConverter.asConnectSchema`).

    Raises DataError, or SchemaBuilderError for a default that does not fit.
    """
    node = json.loads(text, parse_float=Decimal)
    if _HALF_PAIR.search(text):
        _refuse_half_pairs(node)
    return _schema(node)


def _refuse_half_pairs(node: Any) -> None:
    """Raise DataError if a text has half of a surrogate pair: no query can hold it."""
    try:
        json.dumps(node, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise DataError("Incomplete surrogate pair in a string of the schema") from None


def _schema(node: Any) -> Schema | None:
    if node is None:
        return None
    kind = node.get("type") if isinstance(node, dict) else None
    if not isinstance(kind, str):
        raise DataError("Schema must contain 'type' field")
    if kind not in _FROM_JSON:
        raise DataError(f"Unknown schema type: {kind}")
    nested = _nested(kind, node)
    optional, version, doc = node.get("optional"), node.get("version"), node.get("doc")
    schema = Schema(
        type=_FROM_JSON[kind],
        optional=optional is True,
        name=node.get("name") if isinstance(node.get("name"), str) else None,
        version=wrapped(version, 32) if isinstance(version, int) and not isinstance(version, bool) else None,
        doc=doc if isinstance(doc, str) else None,
        parameters=_parameters(node.get("parameters")),
        **nested,
    )
    return schema.same_but(default=default_of(schema, node["default"])) if "default" in node else schema


def _nested(kind: str, node: dict[str, Any]) -> dict[str, Any]:
    if kind == "array":
        if node.get("items") is None:
            raise DataError("Array schema did not specify the element type")
        return {"items": _schema(node["items"])}
    if kind == "map":
        for member, what in (("keys", "key"), ("values", "value")):
            if member not in node:
                raise DataError(f"Map schema did not specify the {what} type")
        for member, what in (("keys", "key"), ("values", "value")):
            if node[member] is None:
                raise SchemaBuilderError(f"{what}Schema cannot be null.")
        return {"keys": _schema(node["keys"]), "values": _schema(node["values"])}
    if kind != "struct":
        return {}
    if not isinstance(node.get("fields"), list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    fields: dict[str, Schema] = {}
    for inner in node["fields"]:
        name = inner.get("field") if isinstance(inner, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        schema = _schema(inner)
        assert schema is not None
        add_field(fields, name, schema)
    level = node.get("levels_up")
    return {"fields": fields, "levels_up": level if isinstance(level, int) else 0}


def _parameters(node: Any) -> dict[str, str] | None:
    if not isinstance(node, dict):
        return None
    if not all(isinstance(value, str) for value in node.values()):
        raise DataError("Schema parameters must have string values.")
    return dict(node)
