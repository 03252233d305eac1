"""The iteration order of `java.util.HashMap`, in which Kafka writes some texts and does some work. Hashes are unsigned here."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

_MOST_BITS = 17
"""Of the number of slots of a record's HashMap."""


def java_hash(text: str) -> int:
    """`String.hashCode()` as an unsigned number."""
    units = text.encode("utf-16-be", "surrogatepass")
    result = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & 0xFFFFFFFF
    return result


def hash_order(texts: Iterable[str], *, copied: bool = False) -> list[str]:
    """Distinct texts in the iteration order of a HashMap or HashSet to which they were added in this order.

    copied: the set was created by `new HashSet<>(collection)`, which chooses its capacity in advance.
    """
    distinct = list(dict.fromkeys(texts))
    return [distinct[i] for i in slot_order([java_hash(text) for text in distinct], copied=copied)]


def order_is_fixed(texts: Sequence[str]) -> bool:
    """Whether distinct texts that have this order in a HashMap of 16 slots have it in each other one."""
    hashes = [java_hash(text) for text in texts]
    return all(_by_slot(hashes, 1 << bits) == list(range(len(texts))) for bits in range(2, _MOST_BITS))


def slot_order(hashes: Sequence[int], *, copied: bool = False) -> list[int]:
    """The places of distinct elements with these hashes in the iteration order of `hash_order`."""
    size = 16
    if copied:
        while size < int(len(hashes) / 0.75) + 1:
            size *= 2
    while len(hashes) > size * 0.75:
        size *= 2
    return _by_slot(hashes, size)


def _by_slot(hashes: Sequence[int], size: int) -> list[int]:
    slots = [(number ^ (number >> 16)) & (size - 1) for number in hashes]
    return sorted(range(len(hashes)), key=slots.__getitem__)


def value_hash(value: Any) -> int:
    """`Object.hashCode()` of what Jackson makes of a JSON value, as an unsigned number."""
    if isinstance(value, str):
        return java_hash(value)
    if isinstance(value, dict):
        return map_hash((java_hash(key), value_hash(item)) for key, item in value.items())
    if isinstance(value, list):
        return reduce(lambda so_far, item: (31 * so_far + value_hash(item)) & 0xFFFFFFFF, value, 1)
    if isinstance(value, bool):
        return 1231 if value else 1237
    if isinstance(value, float):
        value = int.from_bytes(struct.pack(">d", value))
    elif isinstance(value, int) and -(2**31) <= value < 2**31:
        return value & 0xFFFFFFFF
    return 0 if value is None else (value ^ (value >> 32)) & 0xFFFFFFFF


def set_hash(hashes: Iterable[int]) -> int:
    """`Set.hashCode()` of elements with these hashes."""
    return sum(hashes) & 0xFFFFFFFF


def map_hash(hashes: Iterable[tuple[int, int]]) -> int:
    """`Map.hashCode()` of keys and values with these hashes."""
    return set_hash(key ^ value for key, value in hashes)


def objects_hash(*hashes: int) -> int:
    """`Objects.hash` of objects with these hashes."""
    result = 1
    for number in hashes:
        result = (31 * result + number) & 0xFFFFFFFF
    return result


def long_hash(number: int) -> int:
    """`Long.hashCode()`."""
    return (number ^ (number >> 32)) & 0xFFFFFFFF
