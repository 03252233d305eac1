"""The iteration order of `java.util.HashMap`, in which Kafka writes some texts."""

from __future__ import annotations

from collections.abc import Iterable


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
    size = 16
    if copied:
        while size < int(len(distinct) / 0.75) + 1:
            size *= 2
    while len(distinct) > size * 0.75:
        size *= 2
    spread = ((h := java_hash(text)) ^ (h >> 16) for text in distinct)
    slots = [number & (size - 1) for number in spread]
    return [distinct[i] for i in sorted(range(len(distinct)), key=slots.__getitem__)]
