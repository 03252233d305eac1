"""Recursive schemas of structs: a field refers to an enclosing struct by `Schema.levels_up`."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.values.schema import Schema


def with_references(schema: Schema, around: tuple[Schema, ...] = ()) -> Schema:
    """The schema, with the name, version, doc and parameters of the referenced struct on each reference.

    around: the enclosing structs, the outermost first.
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
    """A struct whose fields are all written out, as a recursive schema if one of its parts is the same struct.

    Transforms that read the fields of a recursive struct leave it written out.
    """
    if schema is None or not any(field.is_recursive for field in schema.fields.values()):
        return schema
    visited: list[Schema] = []
    pending = list(schema.fields.values())
    while pending:
        part = pending.pop()
        pending += [inner for inner in (part.items, part.keys, part.values) if inner is not None and inner.is_recursive]
        if part.type != "struct" or not part.is_recursive or part in visited:
            continue
        if part.name == schema.name and part.members == schema.fields:
            return schema.same_but(fields=part.fields)
        visited.append(part)
        pending += part.members.values()
    return schema


def bare(schema: Schema) -> Schema:
    """The schema without `optional` and `default`, which depend on the field that has the struct."""
    return schema.same_but(optional=False, default=None)


def parts_of(schema: Schema) -> Iterator[Schema]:
    """A schema and all its parts; a reference to an enclosing struct has none."""
    pending = [schema]
    while pending:
        part = pending.pop()
        yield part
        pending += [*part.fields.values(), *(inner for inner in (part.items, part.keys, part.values) if inner is not None)]
