"""A whole number that somebody typed, in a URL or a setting."""

from __future__ import annotations

LONG_MAX = 2**63 - 1
_LONGEST_SHOWN = 40


def whole_number(text: str, least: int = 0, most: int = LONG_MAX) -> int | None:
    """The number that a text of ASCII digits means; None for any other text, and for a number below `least` or above `most`.

    A text of any length is taken: Python's `int` refuses more than 4,300 digits.
    """
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdigit()) or len(digits) > len(str(most)):
        return None
    number = int(digits or "0")
    return number if least <= number <= most else None


def shortened(text: str) -> str:
    """The text for a message, its beginning if it is long."""
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
