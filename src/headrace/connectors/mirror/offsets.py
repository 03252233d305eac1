"""Connect offsets of the mirror connectors, in MirrorMaker's form, and what may be set as one (MirrorUtils). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.config import java_text
from headrace.connectors.base import SourceOffset, SourcePartition
from headrace.errors import ConnectError
from headrace.kafka.groups import Partition

_MAX_INT = 2**31 - 1


def source_partition(cluster: str, partition: Partition) -> dict[str, Any]:
    """Connect's source partition of a partition of the source cluster."""
    return {"cluster": cluster, "partition": partition[1], "topic": partition[0]}


def check_offsets(
    changes: Sequence[tuple[SourcePartition, SourceOffset | None]],
    texts: Sequence[str],
    *,
    partition: bool,
    only_zero: bool = False,
) -> bool:
    """Agree to offsets that an administrator sets; None is for anything, so that garbage can be removed.

    texts: keys of the source partition that have to be texts; partition: whether there is a partition number, too; only_zero:
    whether the offset means nothing and has to be 0. Raises ConnectError in Kafka's words.
    """
    for where, offset in changes:
        if offset is None:
            continue
        if where is None:
            raise ConnectError("Source partitions may not be null")
        for key in texts:
            _check_string(where, key)
        if partition:
            _check_partition(where)
        _check_offset(where, offset, only_zero)
    return True


def _value(where: Mapping[str, Any], key: str) -> Any:
    if key not in where:
        raise ConnectError(f"Source partition {_text(where)} is missing the '{key}' key, which is required")
    return where[key]


def _check_string(where: Mapping[str, Any], key: str) -> None:
    value = _value(where, key)
    if not isinstance(value, str):
        raise _invalid_value(where, value, key, "must be a string")


def _check_partition(where: Mapping[str, Any]) -> None:
    value = _value(where, "partition")
    if not _is_integer(value) or value > _MAX_INT:
        raise _invalid_value(where, value, "partition", "must be an integer")
    if value < 0:
        raise _invalid_value(where, value, "partition", "cannot be negative")


def _invalid_value(where: Mapping[str, Any], value: Any, key: str, rule: str) -> ConnectError:
    return ConnectError(
        f"Source partition {_text(where)} has an invalid value {java_text(value)} for the '{key}' key, which {rule}"
    )


def _check_offset(where: Mapping[str, Any], offset: Mapping[str, Any], only_zero: bool) -> None:
    subject = f"Source offset {_text(offset)} for source partition {_text(where)}"
    if "offset" not in offset:
        raise ConnectError(f"{subject} is missing the 'offset' key, which is required")
    value = offset["offset"]
    if not _is_integer(value):
        raise ConnectError(f"{subject} has an invalid value {java_text(value)} for the 'offset' key, which must be an integer")
    if only_zero and value != 0:
        raise ConnectError(f"{subject} has an invalid value {value} for the 'offset' key; the only accepted value is 0")
    if value < 0:
        raise ConnectError(f"{subject} has an invalid value {value} for the 'offset' key, which cannot be negative")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Mapping[str, Any]) -> str:
    return java_text(dict(value))
