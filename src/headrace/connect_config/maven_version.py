"""The order of versions as Maven has it, in which Kafka Connect compares those of plugins (KIP-891).

Source: `org.apache.maven.artifact.versioning.ComparableVersion` of maven-artifact 3.9. A version is a list of numbers, words, and
further lists, one of which begins with each hyphen and with each change between digits and letters.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import zip_longest

_QUALIFIERS = ("alpha", "beta", "milestone", "rc", "snapshot", "", "sp")
"""In their order; any other word comes after them."""
_RELEASE = _QUALIFIERS.index("")
_ALIASES = {"ga": "", "final": "", "release": "", "cr": "rc"}
_SHORT = {"a": "alpha", "b": "beta", "m": "milestone"}
"""Before a number."""


@dataclass(frozen=True)
class _Word:
    """A word, with the number right behind it if there is one: `rc1`, `rc-1`."""

    text: str
    number: int | None = None

    @property
    def rank(self) -> tuple[int, str]:
        text = _ALIASES.get(self.text, self.text)
        return (_QUALIFIERS.index(text), "") if text in _QUALIFIERS else (len(_QUALIFIERS), text)

    @property
    def order(self) -> tuple[tuple[int, str], int]:
        return self.rank, -1 if self.number is None else self.number


_Item = int | _Word | list["_Item"]


@functools.total_ordering
class MavenVersion:
    """A version that can be compared: `1.0-rc1 < 1.0 = 1.0.0 = 1.0.Final < 1.0-sp < 1.0-ccs < 1.0.1`."""

    def __init__(self, text: str) -> None:
        self._items = _parsed(text.lower())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MavenVersion) and _compare(self._items, other._items) == 0

    def __lt__(self, other: MavenVersion) -> bool:
        return _compare(self._items, other._items) < 0


def _parsed(text: str) -> list[_Item]:
    items: list[_Item] = []
    lists = [items]
    start, digits, joined = 0, False, False  # joined: a word and the number behind it are one item

    def add(end: int) -> None:
        lists[-1].append(0 if end == start else _item(text[start:end], digits, joined))

    def begin() -> None:
        if not lists[-1]:
            return
        inner: list[_Item] = []
        lists[-1].append(inner)
        lists.append(inner)

    for at, character in enumerate(text):
        if character == ".":
            add(at)
            start, joined = at + 1, False
        elif character == "-":
            if at > start and not digits and text[at + 1 : at + 2].isdigit():
                joined = True
                begin()
                continue
            add(at)
            start, joined = at + 1, False
            begin()
        elif character.isdigit():
            if not digits and at > start and not joined:
                joined = True
                begin()
            digits = True
        else:
            if digits and at > start:
                add(at)
                start, joined = at, False
                begin()
            digits = False
    if len(text) > start:
        if not digits:
            begin()
        add(len(text))
    for items_of_level in reversed(lists):
        _normalize(items_of_level)
    return items


def _item(text: str, digits: bool, joined: bool) -> _Item:
    if joined:
        text = text.replace("-", "")
        word = text.rstrip("0123456789")
        return _Word(_SHORT.get(word, word), int(text[len(word) :]))
    return int(text) if digits else _Word(text)


def _normalize(items: list[_Item]) -> None:
    """Remove insignificant zeros: at the end, and before a word."""
    for at in range(len(items) - 1, -1, -1):
        if items[at] not in (0, []):
            continue
        after = items[at + 1] if at + 1 < len(items) else None
        before_word = isinstance(after, _Word) and after.number is None
        if after is None or before_word or (isinstance(after, list) and isinstance(after[0], _Word)):
            del items[at]


def _compare(left: _Item | None, right: _Item | None) -> int:
    """Below 0 if `left` comes first. None stands for an item that only the other list has."""
    if left is None:
        return 0 if right is None else -_compare(right, None)
    if right is None:
        if isinstance(left, list):
            return next((order for item in left if (order := _compare(item, None))), 0)
        return _sign(left, 0) if isinstance(left, int) else _sign(left.rank, (_RELEASE, ""))
    if isinstance(left, list) and isinstance(right, list):
        return next((order for pair in zip_longest(left, right) if (order := _compare(*pair))), 0)
    if isinstance(left, _Word) and isinstance(right, _Word):
        return _sign(left.order, right.order)
    if isinstance(left, int) and isinstance(right, int):
        return _sign(left, right)
    return _sign(_kind(left), _kind(right))


def _kind(item: _Item) -> int:
    """Words come before lists, and those before numbers."""
    return 0 if isinstance(item, _Word) else 1 if isinstance(item, list) else 2


def _sign(left: object, right: object) -> int:
    return (left > right) - (left < right)  # pyright: ignore
