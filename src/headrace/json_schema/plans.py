"""Plans for reading and writing data by a Connect schema, for `JsonSchemaReader.java` and `JsonSchemaWriter.java`."""

from __future__ import annotations

from typing import Any

from headrace.json_schema.mapping import JsonSchemaOptions, is_object, is_union
from headrace.values.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema

Plan = dict[str, Any]
"""`t`, the kind of step; `c`, Connect's type; `o`, whether it is optional; `d`, the default; and the arguments of the step."""


def plan_of(schema: Schema, options: JsonSchemaOptions, level: int = 0) -> Plan:
    """The plan for data with a Connect schema, for reading and for writing. level: the number of enclosing structs."""
    plan: Plan = {"c": schema.type.upper(), "o": schema.optional} | _kind(schema, options, level)
    if schema.default is not None:
        plan["d"] = schema.default
    if options.keep_null:
        plan["keep"] = True
    return plan


def _kind(schema: Schema, options: JsonSchemaOptions, level: int) -> Plan:
    if schema.name == DECIMAL:
        return {"t": "decimal", "scale": schema.scale, "numeric": options.numeric_decimals}
    if schema.name in (DATE, TIME, TIMESTAMP):
        return {"t": schema.name.rpartition(".")[2]}
    if schema.items is not None:
        return {"t": "array", "i": plan_of(schema.items, options, level)}
    if schema.keys is not None and schema.values is not None:
        if is_object(schema):
            return {"t": "map", "i": plan_of(schema.values, options, level)}
        keys, values = plan_of(schema.keys, options, level), plan_of(schema.values, options, level)
        return {"t": "pairs", "k": keys, "v": values, "object": schema.keys.type == "string"}
    if schema.type != "struct":
        return {"t": schema.type}
    if schema.levels_up:
        return {"t": "ref", "n": level - schema.levels_up}
    fields = [[name, plan_of(field, options, level + 1)] for name, field in schema.fields.items()]
    return {"t": "union" if is_union(schema) else "struct", "f": fields} | ({"n": level} if schema.is_recursive else {})
