"""Compatibility of Avro schemas: whether data written with one can be read with another (Avro's schema resolution)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")
_PROMOTIONS = {
    "int": ("int", "long", "float", "double"),
    "long": ("long", "float", "double"),
    "float": ("float", "double"),
    "string": ("string", "bytes"),
    "bytes": ("bytes", "string"),
}  # fmt: skip
_NAMED = ("record", "enum", "fixed", "error")


def incompatibilities(new: Sequence[str], olds: Sequence[Sequence[str]], level: str) -> list[str]:
    """The incompatibilities of a new schema with earlier ones, the oldest first, at a compatibility level; empty if none.

    Each schema: its text, after the texts of the schemas that it references, the innermost first.
    """
    compared = olds if level.endswith("_TRANSITIVE") else olds[-1:]
    problems: list[str] = []
    for old in reversed(compared):
        if level.startswith(("BACKWARD", "FULL")):
            problems += unreadable(new[-1], old[-1], new[:-1], old[:-1])
        if level.startswith(("FORWARD", "FULL")):
            problems += unreadable(old[-1], new[-1], old[:-1], new[:-1])
    return problems


def unreadable(reader: str, writer: str, references: Sequence[str] = (), writer_references: Sequence[str] = ()) -> list[str]:
    """Why a reader's schema cannot read data written with a writer's schema; empty if it can.

    references, writer_references: the texts of schemas that the reader's, or the writer's, references, the innermost first.
    """
    readers, writers = _NamedTypes(), _NamedTypes()
    for names, texts in ((readers, references), (writers, writer_references)):
        for text in texts:
            names.qualified(json.loads(text))
    return list(
        _check(readers.qualified(json.loads(reader)), writers.qualified(json.loads(writer)), "/", (readers, writers), set())
    )


class _NamedTypes:
    """The named types of one schema."""

    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}

    def qualified(self, node: Any, namespace: str = "") -> Any:
        """The schema with full names; references to named types stay names."""
        if isinstance(node, str):
            return node if node in _PRIMITIVES or "." in node or not namespace else f"{namespace}.{node}"
        if isinstance(node, list):
            return [self.qualified(branch, namespace) for branch in node]
        kind = node["type"]
        if kind in _NAMED:
            return self._define(node, namespace)
        if kind == "array":
            return {**node, "items": self.qualified(node["items"], namespace)}
        if kind == "map":
            return {**node, "values": self.qualified(node["values"], namespace)}
        return self.qualified(kind, namespace)

    def _define(self, node: dict[str, Any], namespace: str) -> dict[str, Any]:
        name = node["name"]
        space = name.rpartition(".")[0] if "." in name else node.get("namespace", namespace)
        full = name if "." in name or not space else f"{space}.{name}"
        aliases = [alias if "." in alias or not space else f"{space}.{alias}" for alias in node.get("aliases") or ()]
        record = self._definitions[full] = {**node, "name": full, "aliases": aliases}
        if "fields" in node:
            record["fields"] = [{**field, "type": self.qualified(field["type"], space)} for field in node["fields"]]
        return record

    def resolved(self, node: Any) -> Any:
        """The definition of a named type; other nodes are returned unchanged."""
        return self._definitions.get(node, node) if isinstance(node, str) else node


_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
_Pair = tuple[_NamedTypes, _NamedTypes]


def _check(reader: Any, writer: Any, path: str, names: _Pair, compared: set[tuple[str, str]]) -> Iterator[str]:
    reader, writer = names[0].resolved(reader), names[1].resolved(writer)
    if isinstance(writer, list):
        for number, branch in enumerate(writer):
            yield from _check(reader, branch, f"{path}{number}/", names, compared)
        return
    if isinstance(reader, list):
        if all(any(_check(branch, writer, path, names, set(compared))) for branch in reader):
            yield f"MISSING_UNION_BRANCH at {path}: reader union lacking writer type: {_kind(writer).upper()}"
        return
    kinds = _kind(reader), _kind(writer)
    if kinds[0] != kinds[1]:
        if kinds[0] not in _PROMOTIONS.get(kinds[1], ()):
            yield f"TYPE_MISMATCH at {path}: reader type: {kinds[0].upper()} not compatible with writer type: {kinds[1].upper()}"
        return
    if kinds[0] in ("array", "map"):
        inner = "items" if kinds[0] == "array" else "values"
        yield from _check(reader[inner], writer[inner], f"{path}{inner}/", names, compared)
    elif kinds[0] in _NAMED:
        yield from _check_named(reader, writer, path, names, compared)


def _kind(node: Any) -> str:
    return node["type"] if isinstance(node, dict) else node


def _check_named(reader: Any, writer: Any, path: str, names: _Pair, compared: set[tuple[str, str]]) -> Iterator[str]:
    pair = reader["name"], writer["name"]
    if pair in compared:
        return
    compared.add(pair)
    short = [name.rpartition(".")[2] for name in pair]
    if short[0] != short[1] and pair[1] not in reader["aliases"]:
        yield f"NAME_MISMATCH at {path}name: expected: {pair[1]}"
    elif reader["type"] == "fixed" and reader["size"] != writer["size"]:
        yield f"FIXED_SIZE_MISMATCH at {path}size: expected: {writer['size']}, found: {reader['size']}"
    elif reader["type"] == "enum":
        missing = [symbol for symbol in writer["symbols"] if symbol not in reader["symbols"]]
        if missing and "default" not in reader:
            yield f"MISSING_ENUM_SYMBOLS at {path}symbols: [{', '.join(missing)}]"
    elif reader["type"] == "record":
        yield from _check_fields(reader, writer, path, names, compared)


def _check_fields(reader: Any, writer: Any, path: str, names: _Pair, compared: set[tuple[str, str]]) -> Iterator[str]:
    written = {field["name"]: field for field in writer["fields"]}
    for number, field in enumerate(reader["fields"]):
        place = f"{path}fields/{number}"
        old = next((written[name] for name in (field["name"], *field.get("aliases", ())) if name in written), None)
        if old is not None:
            yield from _check(field["type"], old["type"], f"{place}/type/", names, compared)
        elif "default" not in field:
            yield f"READER_FIELD_MISSING_DEFAULT_VALUE at {place}: {field['name']}"
