"""The types of options: Kafka's `ConfigDef.Type`, and the parsing of texts.

Kafka settings are texts; every option declares the type that its text is read as. Rules and wording are those of
`org.apache.kafka.common.config.ConfigDef.parseType` of Kafka 4.3.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, Final

from headrace.errors import ConfigError


class Type(StrEnum):
    """Kafka's `ConfigDef.Type`; the names are those of definitions in REST answers."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


class Importance(StrEnum):
    """How likely a user needs the option."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(StrEnum):
    """How much room a user interface should give the value."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class _Required(Enum):
    """The type of REQUIRED, an enum so that type checkers can tell it from a value."""

    REQUIRED = "REQUIRED"

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required.REQUIRED
"""The default of an option without a default."""


class Password:
    """A secret text: printing shows `[hidden]`, `value` holds the text (Kafka's class of the same name)."""

    HIDDEN = "[hidden]"

    def __init__(self, value: str) -> None:
        self.value = value

    def __str__(self) -> str:
        return self.HIDDEN

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


_BLANKS = "".join(map(chr, range(0x21)))  # what java.lang.String.trim() removes: everything up to the space
_COMMA = re.compile(r"\s*,\s*", re.ASCII)
_LONG_DIGITS = len(str(2**63))
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_SUFFIX = re.compile(r"[fFdD]$")
_BITS = {Type.SHORT: 16, Type.INT: 32, Type.LONG: 64}
_WANTED = {
    Type.SHORT: "Expected value to be a 16-bit integer (short)",
    Type.INT: "Expected value to be a 32-bit integer",
    Type.LONG: "Expected value to be a 64-bit integer (long)",
    Type.DOUBLE: "Expected value to be a double",
    Type.STRING: "Expected value to be a string",
    Type.PASSWORD: "Expected value to be a string",
}
_JAVA_CLASSES = {
    bool: "java.lang.Boolean",
    int: "java.lang.Integer",
    float: "java.lang.Double",
    str: "java.lang.String",
}


def trim(text: str) -> str:
    """Return `text` without leading and trailing characters up to U+0020, as `java.lang.String.trim()` does."""
    return text.strip(_BLANKS)


def parse_list(text: str) -> list[str]:
    """Split at commas, dropping the white space around them; an empty or blank text is the empty list."""
    trimmed = trim(text)
    return _COMMA.split(trimmed) if trimmed else []


def comma_separated(text: str) -> list[str]:
    """The items between commas, without white space around them; unlike in `parse_list` empty ones are left out."""
    return [item.strip() for item in text.split(",") if item.strip()]


def parse_type(name: str, value: Any, kind: Type) -> Any:
    """Read `value` as `kind`, as Kafka's `ConfigDef.parseType` does.

    Takes the option's name (for the message), a text, or a value which already has the Python type (bool, int, float,
    list of str, Password); None stays None. Class names are trimmed, not looked up. Raises ConfigError in Kafka's
    words.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _from_text(name, value, kind)
    return _from_python(name, value, kind)


def to_text(value: Any, kind: Type | None = None) -> str | None:
    """The text form of a parsed value (Kafka's `ConfigDef.convertToString`).

    None stays None, a password is `[hidden]`.
    """
    if value is None:
        return None
    if kind is Type.LIST and isinstance(value, (list, tuple)):
        return ",".join(java_text(item) for item in value)
    return java_text(value)


def java_text(value: Any) -> str:
    """How a value reads inside Kafka's messages, as `String.valueOf`: `null`, `true`, `[a, b]`, `{a=1}`, `1.0E10`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _java_double(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(java_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items()) + "}"
    return str(value)


def invalid(name: str, value: Any, why: str) -> ConfigError:
    """Kafka's error for a bad value, the value written as Java would write it."""
    return ConfigError.invalid(name, java_text(value), why)


def _from_text(name: str, text: str, kind: Type) -> Any:
    trimmed = trim(text)
    if kind is Type.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise invalid(name, text, "Expected value to be either true or false")
        return trimmed.lower() == "true"
    if kind is Type.LIST:
        return parse_list(text)
    if kind is Type.PASSWORD:
        return Password(trimmed)
    if kind in (Type.STRING, Type.CLASS):
        return trimmed
    number = _double(trimmed) if kind is Type.DOUBLE else _integer(trimmed, _BITS[kind])
    if number is None:
        raise invalid(name, text, f"Not a number of type {kind}")
    return number


def _from_python(name: str, value: Any, kind: Type) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is Type.BOOLEAN and isinstance(value, bool):
        return value
    if kind in _BITS and isinstance(value, int) and number and _fits(value, _BITS[kind]):
        return value
    if kind is Type.DOUBLE and number:
        return float(value)
    if kind is Type.LIST and isinstance(value, (list, tuple)):
        return list(value)
    if kind is Type.PASSWORD and isinstance(value, Password):
        return value
    raise invalid(name, value, _mismatch(value, kind))


def _mismatch(value: Any, kind: Type) -> str:
    if kind is Type.BOOLEAN:
        return "Expected value to be either true or false"
    if kind is Type.LIST:
        return "Expected a comma separated list."
    if kind is Type.CLASS:
        return "Expected a Class instance or class name."
    return f"{_WANTED[kind]}, but it was a {_JAVA_CLASSES.get(type(value), type(value).__qualname__)}"


def _fits(number: int, bits: int) -> bool:
    return -(1 << bits - 1) <= number < 1 << bits - 1


def _integer(text: str, bits: int) -> int | None:
    if not _INTEGER.fullmatch(text):  # int() alone would also take blanks and underscores
        return None
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _LONG_DIGITS:  # int() raises for thousands of them
        return None
    number = int(digits or "0") * (-1 if text.startswith("-") else 1)
    return number if _fits(number, bits) else None


def _double(text: str) -> float | None:
    text = text if text.endswith(("NaN", "Infinity")) else _SUFFIX.sub("", text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")  # as Java reads it
    return None


def _java_double(number: float) -> str:
    """`Double.toString`: plain digits from 1e-3 to 1e7, else scientific with a capital E, one decimal at least."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        plain = f"{Decimal(repr(number)):f}"
        return plain if "." in plain else plain + ".0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text = "".join(map(str, digits))
    return f"{'-' * sign}{text[0]}.{text[1:] or '0'}E{int(exponent) + len(text) - 1}"
