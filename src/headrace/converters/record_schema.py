"""The registered schema of one record's data, for the preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from headrace.converters.base import schema_id_header
from headrace.registry.client import Registry, SubjectVersion
from headrace.registry.errors import InvalidResponseError, RegistryError

_ID_SIZE = 5  # a byte 0 before it
_GUID_SIZE = 17  # a byte 1 before it


def schema_of_record(
    registry: Registry, part: str, data: bytes | None, topic: str, headers: Sequence[tuple[str, bytes | None]]
) -> dict[str, Any] | None:
    """The schema of a record's data: `id`, `subject` and `version`, each None if not known; None for data without an id.

    part: `key` or `value`. Fetches the version from the registry.
    """
    header = next((value for name, value in reversed(headers) if name == schema_id_header(part)), None)
    guid = next((b[1:_GUID_SIZE] for b in (header, data) if b and len(b) >= _GUID_SIZE and b[0] == 1), None)
    if data is None or (guid is None and (len(data) < _ID_SIZE or data[0] != 0)):
        return None
    id = int.from_bytes(data[1:_ID_SIZE], signed=True) if guid is None else _id_of_guid(registry, guid)
    if id is None:
        return None
    try:
        entries = registry.subject_versions(id) if id else []
    except (RegistryError, InvalidResponseError):
        entries = []
    entry = entry_of(entries, part, topic) if entries else None
    return {"id": id or None, "subject": entry.subject if entry else None, "version": entry.version if entry else None}


def entry_of(entries: Sequence[SubjectVersion], part: str, topic: str | None) -> SubjectVersion:
    """That one of the subjects of a schema which data of a topic has it from, by the strategies for names of subjects.

    part: `key` or `value`; topic: None if it is not known.
    """
    of_topic = [entry for entry in entries if topic is not None and entry.subject == f"{topic}-{part}"]
    of_topic = of_topic or [entry for entry in entries if topic is not None and entry.subject.startswith(f"{topic}-")]
    of_part = [entry for entry in entries if entry.subject.endswith(f"-{part}")] if topic is None else []
    return next(iter(of_topic or of_part or entries))


def _id_of_guid(registry: Registry, guid: bytes) -> int | None:
    try:
        id = registry.schema(str(UUID(bytes=guid))).id
    except RegistryError:
        return None
    return id if isinstance(id, int) else None  # a registry may leave it out
