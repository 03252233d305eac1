"""What the registry remembers: subjects with their versions, ids of schemas, levels of compatibility and modes."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from headrace.avro.compatibility import LEVELS, incompatibilities
from headrace.errors import DataError
from headrace.protobuf.parse import parse
from headrace.protobuf.serialized import as_text

MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")
TYPES = ("AVRO", "JSON", "PROTOBUF")
_References = tuple[tuple[str, str, int], ...]
_Content = tuple[str, str, _References]
"""Type, text and references of a schema."""
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")


class RefusedError(Exception):
    """The registry's answer to a request that it cannot do: HTTP status, code and message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Registered:
    """A schema with its id."""

    id: int
    guid: str
    type: str
    text: str
    references: _References = ()
    """Name in the schema, subject and version of each, as the request had them."""

    def json(self) -> dict[str, Any]:
        """As the registry answers it: the type of Avro is left out."""
        fields: dict[str, Any] = {"schema": self.text, "guid": self.guid}
        if self.type != "AVRO":
            fields["schemaType"] = self.type
        if self.references:
            fields["references"] = [dict(zip(("name", "subject", "version"), r, strict=True)) for r in self.references]
        return fields


@dataclass
class Version:
    """A schema under a subject."""

    number: int
    schema: Registered
    deleted: bool = False
    """Softly: its schema can still be found by its id."""


@dataclass
class Store:
    """All that is registered, and the rules for what may be."""

    first_id: int = 1
    """Of the ids that are given out."""
    subjects: dict[str, list[Version]] = field(default_factory=dict)
    """By name, the versions in order, deleted ones as well."""
    schemas: dict[int, Registered] = field(default_factory=dict)
    """By id."""
    levels: dict[str | None, str] = field(default_factory=lambda: {None: "BACKWARD"})
    """Of compatibility, by subject; None is the level of all others."""
    modes: dict[str | None, str] = field(default_factory=lambda: {None: "READWRITE"})
    """By subject; None is the mode of all others."""

    _ids: dict[_Content, int] = field(default_factory=dict)
    _places: dict[int, list[tuple[str, Version]]] = field(default_factory=dict)

    def register(self, subject: str, body: dict[str, Any], normalize: bool = False) -> Version:
        """The version of a schema under a subject, a new one if it is not there yet. Raises RefusedError."""
        kind, text, references = self._parsed(body, normalize)
        if known := self._found(subject, (kind, text, references), deleted=False):
            return known
        mode = self.modes.get(subject, self.modes[None])
        if mode.startswith("READONLY"):
            raise RefusedError(422, 42205, f"Subject {subject} is in read-only mode")
        against = self.against(subject, body)
        if against:
            reasons = ", ".join(against)
            what = f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{reasons}]'
            raise RefusedError(409, 409, what)
        versions = self.subjects.setdefault(subject, [])
        new_version = Version(versions[-1].number + 1 if versions else 1, self._schema(kind, text, references))
        versions.append(new_version)
        self._places.setdefault(new_version.schema.id, []).append((subject, new_version))
        return new_version

    def _parsed(self, body: dict[str, Any], normalize: bool = False) -> _Content:
        kind, text = body.get("schemaType") or "AVRO", body.get("schema")
        references = _references(body.get("references") or [])
        for _, subject, number in references:
            self.version(subject, str(number))
        if kind not in TYPES or not isinstance(text, str) or not text:
            raise RefusedError(422, 42201, f"Either the input schema or one its references is invalid: {kind}")
        if kind == "PROTOBUF":
            return kind, _protobuf(text), references
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RefusedError(422, 42201, f"Invalid schema {text}: {error}") from None
        if kind == "AVRO" and not _is_avro(parsed, {name for name, _, _ in references}):
            raise RefusedError(422, 42201, f"Invalid schema {text}: it is no Avro schema")
        return kind, json.dumps(parsed, ensure_ascii=False, separators=(",", ":"), sort_keys=normalize), references

    def _schema(self, kind: str, text: str, references: _References) -> Registered:
        content = kind, text, references
        if content not in self._ids:
            self._ids[content] = id = self.first_id + len(self.schemas)
            self.schemas[id] = Registered(id, str(uuid.uuid4()), kind, text, references)
        return self.schemas[self._ids[content]]

    def _found(self, subject: str, content: _Content, deleted: bool) -> Version | None:
        """The version that has this content; deleted: one that was deleted counts."""
        places = self._places.get(self._ids.get(content, 0), ())
        there = (v for s, v in places if s == subject and (not v.deleted or (deleted and v in self.subjects[subject])))
        return next(there, None)

    def lookup(self, subject: str, body: dict[str, Any], deleted: bool, normalize: bool = False) -> Version:
        """The version that a schema is under a subject. Raises RefusedError."""
        kind, text, references = self._parsed(body, normalize)
        if not any(deleted or not version.deleted for version in self.subjects.get(subject, [])):
            raise RefusedError(404, 40401, f"Subject '{subject}' not found.")
        if known := self._found(subject, (kind, text, references), deleted):
            return known
        raise RefusedError(404, 40403, "Schema not found")

    def against(self, subject: str, body: dict[str, Any], only: Version | None = None) -> list[str]:
        """What speaks against a schema by the level of its subject; only: that it is compared with, else the earlier ones."""
        level = self.levels.get(subject, self.levels[None])
        kind, text, references = self._parsed(body)
        if level == "NONE":
            return []
        versions = [only] if only else [version for version in self.subjects.get(subject, []) if not version.deleted]
        if not versions:
            return []
        if kind != versions[-1].schema.type:
            return [f"Incompatible because of different schema type: {kind}"]
        if kind != "AVRO":
            return []
        earlier = [self._texts(version.schema.text, version.schema.references) for version in versions]
        return incompatibilities(self._texts(text, references), earlier, level)

    def _texts(self, text: str, references: _References) -> list[str]:
        """A schema after those that it references, directly or indirectly, the innermost first."""
        texts: list[str] = []
        for _, subject, number in references:
            referenced = self.version(subject, str(number), deleted=True).schema
            texts += self._texts(referenced.text, referenced.references)
        return [*dict.fromkeys(texts), text]

    def versions(self, subject: str, deleted: bool = False) -> list[Version]:
        """Those of a subject. Raises RefusedError if there are none."""
        versions = [version for version in self.subjects.get(subject, []) if deleted or not version.deleted]
        if not versions:
            raise RefusedError(404, 40401, f"Subject '{subject}' not found.")
        return versions

    def version(self, subject: str, number: str, deleted: bool = False) -> Version:
        """One of them: a number, `latest` or -1. Raises RefusedError."""
        versions = self.versions(subject, deleted)
        if number in ("latest", "-1"):
            return versions[-1]
        for version in versions:
            if str(version.number) == number:
                return version
        if not number.isdecimal():
            raise RefusedError(422, 42202, f"The specified version '{number}' is not a valid version id.")
        raise RefusedError(404, 40402, f"Version {number} not found.")

    def delete(self, subject: str, versions: list[Version], permanent: bool) -> list[int]:
        """Delete versions of a subject; returns their numbers."""
        numbers = [version.number for version in versions]
        for version in versions:
            version.deleted = True
        if permanent:
            self.subjects[subject] = [version for version in self.subjects[subject] if version.number not in numbers]
        return numbers

    def places(self, id: int) -> list[tuple[str, int]]:
        """Subjects and versions that have a schema. Raises RefusedError."""
        self.by_id(id)
        return [(subject, version.number) for subject, version in self._places.get(id, ()) if not version.deleted]

    def by_id(self, id: int) -> Registered:
        """The schema of an id. Raises RefusedError."""
        if id not in self.schemas:
            raise RefusedError(404, 40403, f"Schema {id} not found")
        return self.schemas[id]

    def set_level(self, subject: str | None, level: Any) -> None:
        """Set a subject's level of compatibility, or that of all. Raises RefusedError."""
        if level not in LEVELS:
            raise RefusedError(422, 42203, f"Invalid compatibility level. Valid values are {', '.join(LEVELS)}")
        self.levels[subject] = level

    def set_mode(self, subject: str | None, mode: Any) -> None:
        """Set a subject's mode, or that of all. Raises RefusedError."""
        if mode not in MODES:
            raise RefusedError(422, 42204, f"Invalid mode. Valid values are {', '.join(MODES)}")
        self.modes[subject] = mode


def _references(nodes: Any) -> _References:
    shape = (("name", str), ("subject", str), ("version", int))
    if not isinstance(nodes, list) or not all(
        isinstance(n, dict) and all(isinstance(n.get(f), t) for f, t in shape) for n in nodes
    ):
        raise RefusedError(422, 42201, "Invalid schema: a reference has a name, a subject and a version")
    return tuple((node["name"], node["subject"], node["version"]) for node in nodes)


def _protobuf(text: str) -> str:
    text_form = as_text(text)
    try:
        parse(text_form)
    except DataError as error:
        raise RefusedError(422, 42201, f"Invalid schema {text_form}: {error}") from None
    return text_form


def _is_avro(node: Any, named: set[str], space: str = "") -> bool:
    if isinstance(node, str):
        return node in _PRIMITIVES or node in named or (f"{space}.{node}" in named)
    if isinstance(node, list):
        return all(_is_avro(branch, named, space) for branch in node)
    kind = node.get("type") if isinstance(node, dict) else None
    if kind == "array":
        return _is_avro(node.get("items"), named, space)
    if kind == "map":
        return _is_avro(node.get("values"), named, space)
    if kind in ("record", "enum", "fixed"):
        name = node.get("name")
        if not isinstance(name, str):
            return False
        space = name.rpartition(".")[0] if "." in name else node.get("namespace", space)
        named.add(name if "." in name or not space else f"{space}.{name}")
        if kind == "enum":
            return _is_list_of(node.get("symbols"), str)
        if kind == "fixed":
            return isinstance(node.get("size"), int)
        fields = node.get("fields")
        if not _is_list_of(fields, dict):
            return False
        return all(isinstance(field.get("name"), str) and _is_avro(field.get("type"), named, space) for field in fields)
    return kind is not None and _is_avro(kind, named, space)


def _is_list_of(nodes: Any, kind: type) -> TypeGuard[list[Any]]:
    return isinstance(nodes, list) and all(isinstance(node, kind) for node in nodes)
