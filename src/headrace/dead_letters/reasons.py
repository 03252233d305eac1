"""Why the letters of a topic failed: one row for each reason, however many records it hit. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from headrace.dead_letters.letter import Letter

_CONTEXT = {"stage": "stage", "class": "class.name", "exception": "exception.class.name"}
"""Field of a row -> what the letter's headers call it."""
_FEW = 10
"""How many messages of one pattern may have rows of their own: fewer may differ in what matters, as the name of a field."""
_TEXT = r'"(?:[^"\\]|\\.)*"'
_JSON = re.compile(rf"\{{(?:[^{{}}\"]|{_TEXT})*\}}|\[(?:[^\[\]\"]|{_TEXT})*\]", re.DOTALL)
"""An object or a list without another of its kind in it."""
_CUT = re.compile(r"[\[{].*", re.DOTALL)
"""One whose end is not there."""
_VALUES = re.compile(r""""[^"]*"|'[^']*'|\d+(\.\d+)?""")
"""What else a message may have of the record: texts in quotes, numbers."""
_BEGINNING = 1000
"""The characters of a message that are compared."""


def reasons(letters: Iterable[Letter]) -> list[dict[str, Any]]:
    """The reasons of failures, each with the count and the first and last time (epoch ms); the most frequent first.

    Many messages that differ only in values of the record are one reason: `message` is the newest of them, and `messages` their
    number.
    """
    exact: dict[tuple[Any, ...], list[Letter]] = {}
    for letter in letters:
        exact.setdefault((letter.connector, *map(letter.context.get, _CONTEXT.values()), _message(letter)), []).append(letter)
    alike: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for key in exact:
        alike.setdefault((*key[:-1], _pattern(key[-1])), []).append(key)
    groups = [group for keys in alike.values() for group in ([keys] if len(keys) > _FEW else ([key] for key in keys))]
    rows = [_row([letter for key in keys for letter in exact[key]], messages=len(keys)) for keys in groups]
    return sorted(rows, key=lambda row: (-row["records"], str(row["message"])))


def _row(letters: list[Letter], messages: int) -> dict[str, Any]:
    newest = max(letters, key=lambda letter: letter.record.timestamp or 0)
    times = [letter.record.timestamp for letter in letters if letter.record.timestamp is not None]
    return {
        "connector": newest.connector,
        **{name: newest.context.get(header) for name, header in _CONTEXT.items()},
        "message": _message(newest),
        "messages": messages,
        "records": len(letters),
        "first_ms": min(times, default=None),
        "last_ms": max(times, default=None),
    }


def _message(letter: Letter) -> str | None:
    return letter.context.get("exception.message")


def _pattern(message: str | None) -> str | None:
    """A message without values. What stands between two of them stays: it may be the cause."""
    if message is None:
        return None
    text, before = message[:_BEGINNING], ""
    while text != before:  # from the innermost to the outermost
        text, before = _JSON.sub("…", text), text
    return _VALUES.sub("…", _CUT.sub("…", text) if len(message) > _BEGINNING else text)
