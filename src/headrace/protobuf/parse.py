"""Parser of `.proto` files; options other than those of `Field` are skipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from headrace.errors import DataError
from headrace.protobuf.model import Enum, Field, File, Message

_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<word>[.\w]+|-?\.?\d[\w.+-]*|[-+])|(?P<sign>[{}()\[\]<>=;:,])""",
    re.DOTALL,
)
_META = "confluent.field_meta"


def parse(text: str) -> File:
    """Parse a file. Raises DataError with the unexpected token and its line."""
    return _ProtoParser(text).file()


@dataclass
class _Body:
    """A message that is being parsed."""

    name: str
    fields: list[Field] = field(default_factory=list)
    oneofs: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)


class _ProtoParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)
        self._at = 0
        self._is_proto2 = True

    @staticmethod
    def _split(text: str) -> list[tuple[str, int]]:
        tokens, at = [], 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                line = text.count("\n", 0, at) + 1
                raise DataError(f"The Protobuf schema has {text[at]!r} in line {line}, which is no part of one")
            if match.lastgroup is not None:
                tokens.append((match.group(), at))
            at = match.end()
        return tokens

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, *expected: str) -> str:
        token = self._next()
        if token not in expected:
            raise self._unexpected(token, " or ".join(expected))
        return token

    def _unexpected(self, token: str, expected: str) -> DataError:
        at = self._tokens[min(self._at, len(self._tokens)) - 1][1] if self._tokens else 0
        line = self._text.count("\n", 0, at) + 1
        return DataError(f"The Protobuf schema has {token or 'its end'} in line {line} instead of {expected}")

    def _number(self) -> int:
        token = self._next()
        try:
            return int(token, 8) if re.fullmatch("-?0[0-7]+", token) else int(token, 0)
        except ValueError:
            raise self._unexpected(token, "a number") from None

    def _string(self) -> str:
        token, parts = self._next(), []
        while token[:1] in "'\"" and token:
            parts.append(re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), token[1:-1]))
            token = self._next()
        self._at -= 1
        return "".join(parts)

    def _skip(self) -> None:
        """Skip a statement, up to its semicolon or the end of its block."""
        depth = 0
        while self._at < len(self._tokens):
            token = self._next()
            depth += (token in "{[(") - (token in "}])")
            if depth == 0 and token in (";", "}"):
                return

    def file(self) -> File:
        """The whole file."""
        package, imports = "", list[str]()
        top = _Body("")
        while self._at < len(self._tokens):
            word = self._next()
            if word == "syntax":
                self._expect("=")
                syntax = self._string()
                if syntax not in ("proto2", "proto3"):
                    raise DataError(f"The Protobuf schema has the syntax {syntax}: it has to be proto2 or proto3")
                self._is_proto2 = syntax == "proto2"
                self._expect(";")
            elif word == "edition":
                raise DataError("The Protobuf schema is of an edition: it has to be of proto2 or proto3")
            elif word == "package":
                package = top.name = self._next()
                self._expect(";")
            elif word == "import":
                if self._peek() in ("public", "weak"):
                    self._next()
                imports.append(self._string())
                self._expect(";")
            elif not self._type(word, top) and word != ";":
                if word not in ("option", "extend", "service"):
                    raise self._unexpected(word, "a message or an enum")
                self._skip()
        return File(package, tuple(imports), tuple(top.messages), tuple(top.enums), self._is_proto2)

    def _type(self, word: str, outer: _Body) -> bool:
        """Parse a message or an enum, if the word begins one; returns whether it does."""
        if word == "message":
            outer.messages.append(self._message(self._full(outer.name)))
        elif word == "enum":
            outer.enums.append(self._enum(self._full(outer.name)))
        return word in ("message", "enum")

    def _full(self, scope: str) -> str:
        name = self._next()
        return f"{scope}.{name}" if scope else name

    def _message(self, name: str) -> Message:
        body = _Body(name)
        self._expect("{")
        while (word := self._next()) != "}":
            if word in ("option", "reserved", "extensions", "extend"):
                self._skip()
            elif word == "oneof":
                self._oneof(body)
            elif word != ";" and not (self._peek() not in ("=", "") and self._type(word, body)):
                body.fields.append(self._field(word))
        return Message(
            name, tuple(body.fields), tuple(body.oneofs), tuple(body.messages), tuple(body.enums), is_proto2=self._is_proto2
        )

    def _oneof(self, body: _Body) -> None:
        name = self._next()
        body.oneofs.append(name)
        self._expect("{")
        while (word := self._next()) != "}":
            if word == "option":
                self._skip()
            elif word != ";":
                body.fields.append(self._field(word, name))

    def _field(self, word: str, oneof: str | None = None) -> Field:
        label = ""
        if word in ("optional", "required", "repeated"):
            label, word = word, self._next()
        if word == "group":
            raise DataError("The Protobuf schema has a group: groups are not read")
        map_key = None
        if word == "map" and self._peek() == "<":
            self._next()
            map_key = self._next()
            self._expect(",")
            word = self._next()
            self._expect(">")
        if not re.fullmatch(r"\.?[A-Za-z_][\w.]*", word):
            raise self._unexpected(word, "the type of a field")
        name = self._next()
        self._expect("=")
        number = self._number()
        options = self._options() if self._peek() == "[" else {}
        self._expect(";")
        packed = options.get("packed")
        return Field(name, number, word, label, map_key, oneof, None if packed is None else packed == "true", _params(options))

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        self._expect("[")
        while True:
            name = ""
            while self._peek() not in ("=", ""):
                name += self._next()
            self._expect("=")
            name = name.replace("(", "").replace(")", "")
            value = self._value()
            options[name] = [*options.get(name, []), value] if name == f"{_META}.params" else value
            if self._expect(",", "]") == "]":
                return options

    def _value(self) -> Any:
        token = self._peek()
        if token[:1] in "'\"" and token:
            return self._string()
        if token == "{":
            return self._aggregate()
        if token == "[":
            self._next()
            items = []
            while self._peek() != "]":
                items.append(self._value())
                if self._peek() == ",":
                    self._next()
            self._next()
            return items
        return self._next()

    def _aggregate(self) -> dict[str, Any]:
        aggregate: dict[str, Any] = {}
        self._expect("{")
        while self._peek() not in ("}", ""):
            name = self._next()
            if self._peek() == ":":
                self._next()
            value = self._value()
            aggregate[name] = [*aggregate[name], value] if isinstance(aggregate.get(name), list) else (
                [aggregate[name], value] if name in aggregate else value
            )  # fmt: skip
            if self._peek() in (",", ";"):
                self._next()
        self._expect("}")
        return aggregate

    def _enum(self, name: str) -> Enum:
        symbols: dict[str, int] = {}
        self._expect("{")
        while (word := self._next()) != "}":
            if word in ("option", "reserved") and self._peek() != "=":
                self._skip()
            elif word != ";":
                self._expect("=")
                symbols[word] = self._number()
                if self._peek() == "[":
                    self._options()
                self._expect(";")
        return Enum(name, symbols, closed=self._is_proto2)


def _params(options: dict[str, Any]) -> dict[str, str]:
    meta = options.get(_META) or {}
    params = meta.get("params", []) if isinstance(meta, dict) else []
    pairs = [*(params if isinstance(params, list) else [params]), *options.get(f"{_META}.params", [])]
    return {pair["key"]: pair["value"] for pair in pairs if isinstance(pair, dict) and "key" in pair and "value" in pair}
