"""What has to be the same of results of headrace and of Kafka Streams, which are lists of key, value and time for each batch."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

Rows = list[list]


def in_batches(results: list[Rows], size: int) -> list[Rows]:
    """What each record gives, put together for batches of some records."""
    return [[row for rows in results[first : first + size] for row in rows] for first in range(0, len(results), size)]


def last_of_each(results: list[Rows]) -> list[dict]:
    """The last row of each key that a batch gives, without deletions of rows that were not there before it."""
    there: set = set()
    found = []
    for rows in results:
        last = {key: (value, time) for key, value, time in rows}
        found.append({key: row for key, row in last.items() if row[0] is not None or key in there})
        there = (there | last.keys()) - {key for key, row in last.items() if row[0] is None}
    return found


def by_key(results: list[Rows]) -> list[dict]:
    """What each batch gives, in the order of each key."""
    found = []
    for rows in results:
        keys: dict[Any, list] = defaultdict(list)
        for key, value, time in rows:
            keys[key].append((value, time))
        found.append(dict(keys))
    return found


def at_any_time(results: list[Rows]) -> Rows:
    """All of it, whenever it comes."""
    return sorted((row for rows in results for row in rows), key=str)


def not_really_alone(ours: list[Rows], kafka: list[Rows]) -> list[tuple]:
    """Of left and outer joins: what differs, but for records that one of the two passes on alone although they meet others later:
    Kafka Streams at once because they are late, headrace earlier because their time is over (docs/parity.md).
    """
    mine, theirs = (Counter(tuple(row) for rows in results for row in rows) for results in (ours, kafka))
    met = list(mine)

    def meets(row: tuple) -> bool:
        key, value, _ = row
        left, right = value.removesuffix("-null"), value.removeprefix("null-")
        same = [other for k, other, _ in met if k == key and other != value]
        if left != value and any(other.startswith(f"{left}-") and not other.endswith("-null") for other in same):
            return True
        return right != value and any(other.endswith(f"-{right}") and not other.startswith("null-") for other in same)

    return [row for row in (*(mine - theirs), *(theirs - mine)) if not meets(row)]


def differ(name: str, ours: list[Rows], kafka: list[Rows]) -> bool:
    """Whether the results of a random program differ where they have to be the same (`tests/streams/programs/mixed.py`)."""
    if name.startswith("alone_"):
        return bool(not_really_alone(ours, kafka))
    if name.startswith("stream_"):
        return by_key(ours) != by_key(kafka)
    return last_of_each(_deleted(ours)) != last_of_each(_deleted(kafka))


def _deleted(results: list[Rows]) -> list[Rows]:
    """With empty groups as deletions: a group that came and went in one batch has no row at all."""
    return [[[key, None if value == "0" else value, time] for key, value, time in rows] for rows in results]
