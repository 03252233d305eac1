"""Parser of patterns of `java.text.SimpleDateFormat`."""

from __future__ import annotations

from itertools import groupby

LETTERS = "GyMdkHmsSEDFwWahKzZYuXL"
"""The letters that mean a part of a date."""

Item = str | tuple[str, int]


def date_pattern(pattern: str) -> tuple[Item, ...]:
    """The parts of a pattern in order: `("y", 4)` for `yyyy`, a text for literal characters.

    Raises ValueError, with Java's message, for a pattern that SimpleDateFormat refuses.
    """
    marks = _marks(pattern)
    items: list[Item] = []
    for (quoted, letter), letters in groupby(marks, key=lambda mark: (mark[0], "" if mark[0] else mark[1])):
        characters = [character for _, character in letters]
        items.append("".join(characters) if quoted else (letter, len(characters)))
    for item in items:
        if item[0] == "X" and isinstance(item, tuple) and item[1] > 3:
            raise ValueError(f"invalid ISO 8601 format: length={item[1]}")
    return tuple(items)


def _marks(pattern: str) -> list[tuple[bool, str]]:
    """Each character and whether it is literal; single quotes are removed, two of them are one literal quote."""
    marks: list[tuple[bool, str]] = []
    quoted, at = False, 0
    while at < len(pattern):
        c = pattern[at]
        if c == "'" and pattern[at + 1 : at + 2] == "'":
            marks.append((True, "'"))
            at += 1
        elif c == "'":
            quoted = not quoted
        else:
            literal = quoted or not (c.isascii() and c.isalpha())
            if not literal and c not in LETTERS:
                raise ValueError(f"Illegal pattern character '{c}'")
            marks.append((literal, c))
        at += 1
    if quoted:
        raise ValueError("Unterminated quote")
    return marks
