"""ReplaceField: drops or renames fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.config import Type, option
from headrace.config.example import Example
from headrace.config.types import invalid
from headrace.config.validators import Lambda, ValidList
from headrace.transforms.base import PartTransformation, java_split, key_and_value, replace_null_option
from headrace.values.java_hash import hash_order, order_is_fixed
from headrace.values.record import copy_struct, members, nulls, struct
from headrace.values.schema import SchemaBuilderError
from headrace.values.sql import NEVER, Sql, all_of, call, case, lit, negated
from headrace.values.value import SIZED, Case, OpenStruct, Value, choose, combined, present

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.compile_context import CompileContext
    from headrace.values.record import ConnectRecord


def _parse_renames(mappings: list[str]) -> dict[str, str]:
    renames: dict[str, str] = {}
    for mapping in mappings:
        parts = java_split(mapping, ":")
        if len(parts) != 2:
            raise invalid("renames", mappings, f"Invalid rename mapping: {mapping}")
        renames[parts[0]] = parts[1]
    return renames


def _valid_renames(_name: str, mappings: list[str] | None) -> None:
    _parse_renames(mappings or [])  # null is refused as of every option


@key_and_value("org.apache.kafka.connect.transforms.ReplaceField")
class ReplaceField(PartTransformation):
    """Drops or renames fields."""

    examples = (
        Example(
            {"exclude": "secret", "renames": "id:key"},
            {"value": {"id": 7, "secret": "x", "name": "y"}},
            {"value": {"key": 7, "name": "y"}},
        ),
        Example({"include": "id"}, {"value": {"id": 7, "name": "y"}}, {"value": {"id": 7}}),
    )

    exclude: frozenset[str] = option(
        "exclude",
        Type.LIST,
        [],
        convert=frozenset,
        validator=ValidList(),
        doc="Fields to exclude. This takes precedence over the fields to include.",
    )
    include: frozenset[str] = option(
        "include",
        Type.LIST,
        [],
        convert=frozenset,
        validator=ValidList(),
        doc="Fields to include. If specified, only these fields will be used.",
    )
    renames: dict[str, str] = option(
        "renames",
        Type.LIST,
        [],
        convert=_parse_renames,
        validator=Lambda(_valid_renames, "list of colon-delimited pairs, e.g. foo:bar,abc:xyz"),
        doc="Field rename mappings.",
    )
    replace_null_with_default: bool = replace_null_option()

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Renamed fields come from the old ones."""
        old = record[self.target]
        part = old.only(sorted(self.include - self.exclude)) if self.include else old.without(sorted(self.exclude))
        renamed = {new: part.get((name,)) for name, new in self.renames.items() if part.has(name)}
        part = part.without([name for name in self.renames if part.has(name)])
        for new, lineage in renamed.items():
            part = part.put((new,), lineage)
        return record.with_part(self.target, part)

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Drop fields, then rename; null stays null."""
        context, value = record.context, getattr(record, self.target)
        cases = [*nulls(value)]
        for when, _, opened in members(context, value, "field replacement", null_passes=True):
            with context.where(when):
                changed = self._map(context, opened) if opened.schema is None else self._struct(context, opened)
            cases.append(Case(when, struct(changed)))
        return replace(record, **{self.target: combined(cases)})

    def _map(self, context: CompileContext, opened: OpenStruct) -> OpenStruct:
        included = tuple(sorted(self.include - self.exclude))
        changed = opened.only(included) if self.include else opened.without(tuple(sorted(self.exclude)))
        renames = {
            old: new for old, new in self.renames.items() if old not in self.exclude and (not self.include or old in self.include)
        }
        renamed = changed.without(tuple(renames))
        for new in dict.fromkeys(renames.values()):
            candidates = {name: changed.get(name) for name in (*renames, new) if renames.get(name, name) == new}
            renamed = renamed.with_field(new, _last(context, opened, candidates))
        return replace(renamed, capacity=SIZED)

    def _keeps(self, name: str) -> bool:
        return name not in self.exclude and (not self.include or name in self.include)

    def _struct(self, context: CompileContext, opened: OpenStruct) -> OpenStruct:
        assert opened.schema
        kept = opened.without(tuple(name for name in opened.fields if not self._keeps(name)))
        fields: dict[str, Value] = {}
        for name, value in copy_struct(context, None, kept, self.replace_null_with_default).fields.items():
            new = self.renames.get(name, name)
            if new in fields:
                context.fail(
                    None, lit(f"Cannot create field because of field name duplication {new}"), SchemaBuilderError.java_class
                )
            fields[new] = value
        originals = {self.renames[old]: old for old in hash_order(self.renames)}  # of two old names the last in a HashMap
        for name in fields:  # Kafka takes it from the field that the renames say, also where the record has no such field
            if originals.get(name, name) not in opened.fields:
                context.fail(None, lit(f"{originals[name]} is not a valid field name"))
        return OpenStruct(fields, schema=opened.schema.with_fields({}))


def _last(context: CompileContext, opened: OpenStruct, candidates: dict[str, Value]) -> Value:
    """Of several members that get one name, the last in the order of the HashMap that Connect has for the map."""
    order = [name for name in hash_order(candidates) if candidates[name]]
    conditions = [present(candidates[name]) for name in order]
    last = None
    if len(order) > 1 and not order_is_fixed(order):  # it depends on how many members the record has
        there = [f"int({condition or 'true'})" for condition in conditions]
        several = all_of(*conditions) if len(order) == 2 else f"({' + '.join(there)} > 1)"
        last = context.scope.bind(f"coalesce({case([(several, _last_in_hash_map(opened, order))])}, -1L)")
    value: Value = ()
    for i, name in enumerate(order):
        earlier = f"({last} IN ({', '.join(f'{j}L' for j in range(i))}))" if last and i else NEVER
        value = choose(all_of(conditions[i], negated(earlier)), candidates[name], value)
    return value


def _last_in_hash_map(opened: OpenStruct, names: list[str]) -> Sql:
    """The index of the name that comes last in the map's HashMap."""
    text = lit("{}")
    if opened.untouched is not None:
        text = case([(opened.untouched_when, opened.untouched.field("s"))], text)
    changed = "".join(f"\0{name}" for name in opened.fields)
    there = [case([(present(member), lit(f"\0{name}"))]) for name, member in opened.fields.items() if member]
    joined = call("concat_ws", lit(""), *there) if there else lit("")
    wanted = "".join(f"\0{name}" for name in names)
    return call("headrace_json_last", text, lit(changed), joined, lit(wanted), str(opened.capacity))
