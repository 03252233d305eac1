"""JSON exactly as Connect's schemaless JsonConverter (Jackson) writes it: keys of offsets are compared as bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

MAX_DEPTH = 200
"""Jackson accepts 1000 levels; Connect's records have only a few."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f]')
_JAVA_CLASSES = {
    type(None): "null",
    bool: "java.lang.Boolean",
    int: "java.lang.Long",
    float: "java.lang.Double",
    str: "java.lang.String",
    list: "java.util.ArrayList",
    dict: "java.util.HashMap",
}


def encode(value: Any) -> bytes:
    """Compact JSON, UTF-8, keys in insertion order.

    Takes None, bool, int, float, str and lists and dicts of them. Raises TypeError for anything else.
    """
    return to_text(value).encode("utf-8", "replace")


def to_text(value: Any) -> str:
    """What `encode` gives, as text, in which halves of surrogate pairs are still as they are."""
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return '"' + _TO_ESCAPE.sub(_escape, value) + '"'
        case int():
            return str(value)
        case float():
            return java_double(value)
        case list() | tuple():
            return "[" + ",".join(map(to_text, value)) + "]"
        case dict():
            return "{" + ",".join(f"{to_text(str(key))}:{to_text(item)}" for key, item in value.items()) + "}"
    raise TypeError(f"{type(value).__name__} cannot be written as JSON: {value!r}")


def with_scalars(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same JSON value with what is neither list nor dict, at any depth, replaced by what `change` returns for it."""
    if isinstance(value, list):
        return [with_scalars(item, change) for item in value]
    if isinstance(value, dict):
        return {name: with_scalars(item, change) for name, item in value.items()}
    return change(value)


def decode(data: bytes) -> Any:
    """The value of a JSON text. Raises ValueError for text that Jackson refuses: NaN, Infinity, too deep nesting."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("Nested too deeply") from None
    if is_too_deep(value):
        raise ValueError("Nested too deeply")
    return value


def is_too_deep(value: Any) -> bool:
    """Whether a JSON value is nested deeper than MAX_DEPTH; works without recursion."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        inner = (item for part in level for item in (part.values() if isinstance(part, dict) else part))
        level = [item for item in inner if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def java_class(value: object) -> str:
    """The name of the class that Connect holds such a value in, for its log lines."""
    return _JAVA_CLASSES.get(type(value), type(value).__name__)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"Non-standard token '{constant}'")


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


def java_double(number: float) -> str:
    """A double as Java's `Double.toString` writes it (1.0E10, 1.0E-5); NaN and infinities quoted, as Jackson does."""
    if number != number or number in (float("inf"), float("-inf")):
        return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}[str(number)]
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        text = format(Decimal(repr(number)), "f")
        return text if "." in text else text + ".0"
    sign, digits, _ = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits))
    shown = text.rstrip("0") or "0"
    exponent = Decimal(repr(number)).adjusted()
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{exponent}"
