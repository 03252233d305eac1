"""Schemas of structs that are a part of themselves: a part refers to the struct around it by `Schema.levels_up`."""

from __future__ import annotations

from headrace.values.schema import Schema


def with_references(schema: Schema, around: tuple[Schema, ...] = ()) -> Schema:
    """The schema whose references have the name, version, doc and parameters of what they refer to.

    around: the structs that it is a part of.
    """
    if schema.levels_up:
        target = around[-schema.levels_up]
        return target.same_but(fields={}, levels_up=schema.levels_up, optional=schema.optional, default=None)
    if not schema.is_recursive:
        return schema
    within = (*around, schema) if schema.type == "struct" else around
    parts = {"items": schema.items, "keys": schema.keys, "values": schema.values}
    return schema.same_but(
        fields={name: with_references(field, within) for name, field in schema.fields.items()},
        **{name: part and with_references(part, within) for name, part in parts.items()},
    )


def folded(schema: Schema | None) -> Schema | None:
    """A struct whose fields are each complete, as one that refers to itself if one of its parts is the same struct.

    So it is after a transform that has looked at its fields.
    """
    if schema is None or not any(field.is_recursive for field in schema.fields.values()):
        return schema
    seen: list[Schema] = []
    left = list(schema.fields.values())
    while left:
        part = left.pop()
        left += [inner for inner in (part.items, part.keys, part.values) if inner is not None and inner.is_recursive]
        if part.type != "struct" or not part.is_recursive or part in seen:
            continue
        if part.name == schema.name and part.members == schema.fields:
            return schema.same_but(fields=part.fields)
        seen.append(part)
        left += part.members.values()
    return schema


def bare(schema: Schema) -> Schema:
    """What is the same wherever a struct stands."""
    return schema.same_but(optional=False, default=None)
