"""Values of options in `.proto` files: those that decide how data is read or written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from headrace.protobuf.tokens import ProtoToken, unquoted

_META = "confluent.field_meta"
_INTEGERS = {"int32": 32, "sint32": 32, "sfixed32": 32, "int64": 64, "sint64": 64, "sfixed64": 64}
_UNSIGNED = {"uint32": 32, "fixed32": 32, "uint64": 64, "fixed64": 64}
_FRACTIONS = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_MAX_DEPTH = 32

Options = Sequence[tuple[str, Sequence[ProtoToken]]]
"""The names of a field's options, without parentheses, and the tokens of their values."""


def integer(text: str) -> int:
    """The number of a token: decimal, octal or hexadecimal."""
    return int(text, 16) if text[:2] in ("0x", "0X") else int(text, 8) if text[:1] == "0" else int(text)


def joined(strings: Sequence[ProtoToken]) -> bytes:
    """Adjacent strings are one. Raises ValueError for an invalid escape sequence."""
    return b"".join(map(unquoted, strings))


def packed(options: Options) -> bool | None:
    """The option `packed`; None if it is not set."""
    values = [value[0].text == "true" for name, value in options if name == "packed"]
    return values[-1] if values else None


def default(options: Options, type: str) -> int | float | bool | str | bytes | None:
    """The default of a field of a type; None if it is not set. Raises ValueError if it does not fit the type."""
    value = next((value for name, value in options if name == "default"), None)
    if value is None:
        return None
    text = "".join(token.text for token in value)
    if type in ("string", "bytes"):
        if value[0].kind != "string":
            raise ValueError(f"the default {text} for a field of type {type}")
        data = joined(value)
        return data.decode(errors="replace") if type == "string" else data
    number = _number(value, type)
    if number is None and (value[-1].kind != "name" or len(value) > 1 or type in (*_INTEGERS, *_UNSIGNED, "double", "float")):
        raise ValueError(f"the default {text} for a field of type {type}")
    if type == "bool":
        if text not in ("true", "false"):
            raise ValueError(f"the default {text} for a field of type {type}")
        return text == "true"
    return text if number is None else number


def _number(value: Sequence[ProtoToken], type: str) -> int | float | None:
    """The number that is a default; None if it is none, or does not fit the type."""
    sign, last = -1 if value[0].text == "-" else 1, value[-1]
    if type in ("double", "float"):
        if last.kind == "name":
            return sign * _FRACTIONS[last.text] if last.text in _FRACTIONS else None
        return sign * float(last.text if last.kind == "fraction" else integer(last.text)) if last.kind != "string" else None
    if last.kind != "integer" or type not in (*_INTEGERS, *_UNSIGNED):
        return None
    number = sign * integer(last.text)
    low, high = (0, 1 << _UNSIGNED[type]) if type in _UNSIGNED else (-1 << _INTEGERS[type] - 1, 1 << _INTEGERS[type] - 1)
    return number if low <= number < high and (sign > 0 or type in _INTEGERS) else None


def params(options: Options) -> dict[str, str]:
    """The parameters of `(confluent.field_meta)`. Raises ValueError if they are no text format of Protobuf."""
    pairs: list[Any] = []
    for name, value in options:
        if name == _META:
            pairs += _TextFormat(value).message(0).get("params", [])
        elif name == f"{_META}.params":
            pairs += _TextFormat(value).values(0)
    keys_and_values = ({key: values[-1] for key, values in pair.items()} for pair in pairs if isinstance(pair, dict))
    return {pair["key"]: pair["value"] for pair in keys_and_values if isinstance(pair.get("key"), str) and "value" in pair}


class _TextFormat:
    """Parser of messages in Protobuf's text format; each field is a list of its values. Methods raise ValueError."""

    def __init__(self, tokens: Sequence[ProtoToken]) -> None:
        self._tokens = tokens
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _next(self) -> ProtoToken:
        if self._at >= len(self._tokens):
            raise ValueError("an unfinished value")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, expected: str) -> None:
        token = self._next()
        if token.text != expected:
            raise ValueError(f"{token.text} in a value, instead of {expected}")

    def message(self, depth: int) -> dict[str, list[Any]]:
        """A message in braces, or in angle brackets."""
        if depth > _MAX_DEPTH:
            raise ValueError("a value that is nested too deep")
        fields: dict[str, list[Any]] = {}
        end = ">" if self._peek() == "<" else "}"
        self._expect("<" if end == ">" else "{")
        while self._peek() != end:
            name = self._name()
            if self._peek() == ":":
                self._next()
            fields[name] = fields.get(name, []) + self.values(depth)
            if self._peek() in (",", ";"):
                self._next()
        self._next()
        return fields

    def _name(self) -> str:
        token = self._next()
        if token.text != "[":
            return token.text
        parts: list[str] = []  # of an extension, or of the type of an Any
        while (token := self._next()).text != "]":
            parts.append(token.text)
        return f"[{''.join(parts)}]"

    def values(self, depth: int) -> list[Any]:
        """A value, or the values of a list."""
        if self._peek() != "[":
            return [self._value(depth)]
        self._next()
        values: list[Any] = []
        while self._peek() != "]":
            values.append(self._value(depth))
            if self._peek() != "]":
                self._expect(",")
        self._next()
        return values

    def _value(self, depth: int) -> Any:
        if self._peek() in ("{", "<"):
            return self.message(depth + 1)
        token = self._next()
        if token.kind != "string":
            return token.text + (self._next().text if token.text == "-" else "")
        strings = [token]
        while self._at < len(self._tokens) and self._tokens[self._at].kind == "string":
            strings.append(self._next())
        return joined(strings).decode(errors="replace")
