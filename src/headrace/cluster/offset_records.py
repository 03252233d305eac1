"""The records of the offset topic: `["connector",{source partition}]` -> `{source offset}`, as Connect writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from headrace.connectors.base import SourceOffset, SourcePartition
from headrace.errors import DataError
from headrace.values import json_text
from headrace.values.json_text import java_class

log = structlog.get_logger(__name__)


def encode_key(connector: str, partition: SourcePartition | None) -> bytes:
    """The key of a source partition, its fields in insertion order; a partition may be null."""
    return json_text.encode([connector, None if partition is None else dict(partition)])


def encode_value(offset: SourceOffset | None) -> bytes | None:
    """The value of an offset; None (a tombstone) removes it."""
    return None if offset is None else json_text.encode(dict(offset))


def decode_key(key: bytes | None) -> tuple[str, SourcePartition | None] | None:
    """Connector and partition of a key. None, after a log line in Connect's words, if it is not one."""
    try:
        content = json_text.decode(key or b"")
    except ValueError:
        log.warning("Ignoring offset partition key with unknown serialization. Expected json.")
        return None
    ignoring = "Ignoring offset partition key with an"
    if not isinstance(content, list):
        log.warning("%s unexpected format. Expected type: java.util.List, actual type: %s", ignoring, java_class(content))
        return None
    if len(content) != 2:
        log.warning("%s unexpected number of elements. Expected: 2, actual: %s", ignoring, len(content))
        return None
    connector, partition = content
    expected = "element in the partition key list. Expected type: java.lang."
    if not isinstance(connector, str):
        log.warning("%s unexpected format for the first %sString, actual type: %s", ignoring, expected, java_class(connector))
        return None
    if partition is not None and not isinstance(partition, dict):
        expected = expected.replace("lang", "util")
        log.warning("%s unexpected format for the second %sMap, actual type: %s", ignoring, expected, java_class(partition))
        return None
    return connector, partition


def decode_value(value: bytes) -> SourceOffset | None:
    """The offset in a value. None, after a log line, if it is not a JSON object."""
    try:
        content = json_text.decode(value)
    except ValueError:
        content = value
    if not isinstance(content, dict):
        log.warning("Ignoring an offset that is not a JSON object but %s", java_class(content))
        return None
    return content


def identity(partition: SourcePartition | None) -> bytes:
    """The identity of a partition, independent of the order of its fields."""
    return json_text.encode(None if partition is None else {name: partition[name] for name in sorted(partition)})


def check(data: Mapping[str, Any] | None) -> None:
    """Raise DataError, in Connect's words, unless this can be stored as a source partition or offset."""
    if data is None:
        return
    if not isinstance(data, Mapping):
        raise DataError("Offsets must be specified as a Map")
    for name, value in data.items():
        if not isinstance(name, str):
            raise DataError("Offsets may only use String keys")
        if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
            kind = "MAP" if isinstance(value, Mapping) else "ARRAY"
            raise DataError(f"Offsets may only contain primitive types as values, but field {name} contains {kind}")
