"""Parser of `.proto` files (proto2 and proto3); options that neither reading nor writing needs are skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.errors import DataError
from headrace.protobuf import options
from headrace.protobuf.mapping import SCALARS
from headrace.protobuf.model import Enum, Field, File, Message
from headrace.protobuf.options import Options
from headrace.protobuf.tokens import Kind, ProtoToken, line_of, tokens_of

_LABELS = ("optional", "required", "repeated")
_NO_KEYS = ("double", "float", "bytes")  # scalar types that cannot be keys of a map
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_MAX_NUMBER = (1 << 29) - 1
_MAX_SYMBOL = 1 << 31
_MAX_SHOWN = 60  # characters of a token
_MAX_DEPTH = 32  # of messages, protoc's limit


def parse(text: str) -> File:
    """Parse a file. Raises DataError with the unexpected token and its line, or with the name that is defined twice."""
    return _ProtoParser(text).file()


@dataclass
class _Body:
    """A message that is being parsed."""

    name: str
    depth: int = 0
    fields: list[Field] = field(default_factory=list)
    oneofs: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)


class _ProtoParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._at = 0
        self._is_proto2 = True

    # ----------------------------------------------------------------------------------------------------------- tokens
    def _peek(self, ahead: int = 0) -> str:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)].text

    def _next(self) -> ProtoToken:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _expect(self, *expected: str) -> str:
        token = self._next()
        if token.text not in expected:
            raise self._unexpected(token, " or ".join(expected))
        return token.text

    def _taken(self, *expected: str) -> bool:
        """Whether the next token is an expected one, which is then passed over."""
        taken = self._peek() in expected
        self._at += taken
        return taken

    def _of_kind(self, kind: Kind, description: str) -> ProtoToken:
        token = self._next()
        if token.kind != kind:
            raise self._unexpected(token, description)
        return token

    def _unexpected(self, token: ProtoToken, expected: str) -> DataError:
        line, text = line_of(self._text, token.at), token.text[:_MAX_SHOWN] or "its end"
        return DataError(f"The Protobuf schema has {text} in line {line} instead of {expected}")

    def _invalid(self, problem: object) -> DataError:
        line = line_of(self._text, self._tokens[self._at - 1].at)
        return DataError(f"The Protobuf schema has, in line {line}, {problem}")

    def _name(self) -> str:
        return self._of_kind("name", "a name").text

    def _full_name(self, description: str = "a name") -> str:
        parts = [self._of_kind("name", description).text]
        while self._taken("."):
            parts.append(self._name())
        return ".".join(parts)

    def _type_name(self) -> str:
        dot = "." if self._taken(".") else ""
        return dot + self._full_name("the type of a field")

    def _number(self, low: int, high: int) -> int:
        negative = low < 0 and self._taken("-")
        token = self._of_kind("integer", "a number")
        number = options.integer(token.text) * (-1 if negative else 1)
        if not low <= number <= high:
            raise self._unexpected(token, f"a number between {low} and {high}")
        return number

    def _string(self) -> str:
        strings = [self._of_kind("string", "a string")]
        while self._tokens[self._at].kind == "string":
            strings.append(self._next())
        try:
            return options.joined(strings).decode(errors="replace")
        except ValueError as error:
            raise self._invalid(error) from None

    # ------------------------------------------------------------------------------------------------------------- file
    def file(self) -> File:
        """The whole file."""
        self._syntax()
        package, imports = "", list[str]()
        top = _Body("")
        while (token := self._next()).kind != "end":
            if token.text == "package":
                if package:
                    raise self._invalid("a second package")
                package = top.name = self._full_name()
                self._expect(";")
            elif token.text == "import":
                self._taken("public", "weak")
                imports.append(self._string())
                self._expect(";")
            elif not self._definition(token, top) and token.text != ";":
                self._service(token)
        self._require_unique([type_.short for type_ in (*top.messages, *top.enums)], package)
        return File(package, tuple(imports), tuple(top.messages), tuple(top.enums), self._is_proto2)

    def _syntax(self) -> None:
        if self._peek() == "edition":
            raise DataError("The Protobuf schema is of an edition: it has to be of proto2 or proto3")
        if not self._taken("syntax"):
            return
        self._expect("=")
        syntax = self._string()
        if syntax not in ("proto2", "proto3"):
            raise DataError(f"The Protobuf schema has the syntax {syntax}: it has to be proto2 or proto3")
        self._is_proto2 = syntax == "proto2"
        self._expect(";")

    def _definition(self, token: ProtoToken, outer: _Body) -> bool:
        """Parse what a file and a message can have: a type, an option, an extension; returns whether the token begins one."""
        if token.text == "message":
            outer.messages.append(self._message(self._inside(outer), outer.depth + 1))
        elif token.text == "enum":
            outer.enums.append(self._enum(self._inside(outer)))
        elif token.text == "option":
            self._option()
        elif token.text == "extend":
            self._extension(outer)
        else:
            return False
        return True

    def _inside(self, outer: _Body) -> str:
        name = self._name()
        return f"{outer.name}.{name}" if outer.name else name

    @staticmethod
    def _require_unique(names: Iterable[str], scope: str) -> None:
        repeated = next((name for name, count in Counter(names).items() if count > 1), None)
        if repeated is not None:
            raise DataError(f"The Protobuf schema defines {f'{scope}.{repeated}' if scope else repeated} twice")

    def _service(self, token: ProtoToken) -> None:
        if token.text != "service":
            raise self._unexpected(token, "a message or an enum")
        self._name()
        self._expect("{")
        while (word := self._expect("rpc", "option", ";", "}")) != "}":
            if word == "option":
                self._option()
            elif word == "rpc":
                self._method()

    def _method(self) -> None:
        self._name()
        self._parameter()
        self._expect("returns")
        self._parameter()
        if self._expect("{", ";") == "{":
            while (word := self._expect("option", ";", "}")) != "}":
                if word == "option":
                    self._option()

    def _parameter(self) -> None:
        self._expect("(")
        self._taken("stream")
        self._type_name()
        self._expect(")")

    # ---------------------------------------------------------------------------------------------------------- message
    def _message(self, name: str, depth: int) -> Message:
        if depth > _MAX_DEPTH:
            raise DataError(f"The Protobuf schema has messages nested more than {_MAX_DEPTH} deep")
        body = _Body(name, depth)
        self._expect("{")
        while (token := self._next()).text != "}":
            if token.text == "extensions":
                self._ranges()
            elif token.text == "reserved":
                self._reserved(-1)
            elif token.text == "oneof":
                self._oneof(body)
            elif not self._definition(token, body) and token.text != ";":
                self._field(token, body)
        self._require_unique([f.name for f in body.fields] + [type_.short for type_ in (*body.messages, *body.enums)], name)
        numbers = Counter(f.number for f in body.fields)
        if used_twice := [str(number) for number, count in numbers.items() if count > 1]:
            raise DataError(f"The Protobuf message {name} has several fields with the number {used_twice[0]}")
        return Message(
            name, tuple(body.fields), tuple(body.oneofs), tuple(body.messages), tuple(body.enums), is_proto2=self._is_proto2
        )

    def _extension(self, outer: _Body) -> None:
        """Skip the fields of an extension: they are of another message. The messages of its groups are of this one."""
        self._type_name()
        self._expect("{")
        body = _Body(outer.name, outer.depth)
        while (token := self._next()).text != "}":
            if token.text != ";":
                self._field(token, body)
        outer.messages += body.messages

    def _oneof(self, body: _Body) -> None:
        name = self._name()
        body.oneofs.append(name)
        self._expect("{")
        while (token := self._next()).text != "}":
            if token.text == "option":
                self._option()
            elif token.text != ";":
                self._field(token, body, name)

    def _field(self, token: ProtoToken, body: _Body, oneof: str | None = None) -> None:
        label = token.text if token.text in _LABELS else ""
        if label and (oneof is not None or (label == "required" and not self._is_proto2)):
            raise self._unexpected(token, "the type of a field")
        if not label:
            self._at -= 1
        map_key = self._map_key() if not label and self._peek() == "map" and self._peek(1) == "<" else None
        if self._is_proto2 and not (label or oneof or map_key):
            raise self._unexpected(token, "optional, required or repeated")
        if self._peek() == "group" and self._tokens[self._at + 1].kind == "name" and self._is_proto2:
            self._group(body)
            return
        type_ = self._type_name()
        if map_key is not None:
            self._expect(">")
        name = self._name()
        self._expect("=")
        number = self._number(1, _MAX_NUMBER)
        settings = self._options()
        self._expect(";")
        try:
            default, params = options.default(settings, type_), options.params(settings)
        except ValueError as error:
            raise self._invalid(error) from None
        packed = options.packed(settings)
        body.fields.append(Field(name, number, type_, label, map_key, oneof, packed, default, params))

    def _map_key(self) -> str:
        self._next()
        self._expect("<")
        token = self._next()
        if token.text not in SCALARS or token.text in _NO_KEYS:
            raise self._unexpected(token, "the type of a map's keys")
        self._expect(",")
        return token.text

    def _group(self, body: _Body) -> None:
        """Skip the field, as Confluent's converter does; its message counts among those of the message."""
        self._next()
        name = self._inside(body)
        self._expect("=")
        self._number(1, _MAX_NUMBER)
        self._options()
        body.messages.append(self._message(name, body.depth + 1))

    def _ranges(self) -> None:
        while True:
            self._number(1, _MAX_NUMBER)
            if self._taken("to") and not self._taken("max"):
                self._number(1, _MAX_NUMBER)
            if not self._taken(","):
                break
        self._options()
        self._expect(";")

    def _reserved(self, low: int) -> None:
        """Skip numbers and names that are reserved. low: the least number."""
        while True:
            if self._tokens[self._at].kind == "string":
                self._string()
            else:
                self._number(low, _MAX_SYMBOL)
                if self._taken("to") and not self._taken("max"):
                    self._number(low, _MAX_SYMBOL)
            if not self._taken(","):
                break
        self._expect(";")

    def _enum(self, name: str) -> Enum:
        symbols: list[tuple[str, int]] = []
        self._expect("{")
        while (token := self._next()).text != "}":
            if token.text == "option":
                self._option()
            elif token.text == "reserved":
                self._reserved(-_MAX_SYMBOL)
            elif token.text != ";":
                if token.kind != "name":
                    raise self._unexpected(token, "a symbol")
                self._expect("=")
                symbols.append((token.text, self._number(-_MAX_SYMBOL, _MAX_SYMBOL - 1)))
                self._options()
                self._expect(";")
        if not symbols:
            raise DataError(f"The Protobuf schema has the enum {name} without symbols")
        self._require_unique((symbol for symbol, _ in symbols), name)
        return Enum(name, dict(symbols), closed=self._is_proto2)

    # ---------------------------------------------------------------------------------------------------------- options
    def _option(self) -> None:
        """Skip the statement of an option."""
        self._setting()
        self._expect(";")

    def _options(self) -> Options:
        """The options in brackets; nothing if there are none."""
        settings: list[tuple[str, list[ProtoToken]]] = []
        if self._taken("["):
            while True:
                settings.append(self._setting())
                if self._expect(",", "]") == "]":
                    break
        return settings

    def _setting(self) -> tuple[str, list[ProtoToken]]:
        """The name of an option and the tokens of its value."""
        parts = [self._option_name()]
        while self._taken("."):
            parts.append(self._option_name())
        self._expect("=")
        first = self._next()
        if first.text in ("{", "["):
            return ".".join(parts), self._block(first)
        value = [first, self._next()] if first.text == "-" else [first]
        if value[-1].kind in ("sign", "end"):
            raise self._unexpected(value[-1], "the value of an option")
        while value[-1].kind == "string" and self._tokens[self._at].kind == "string":
            value.append(self._next())
        while value[-1].kind == "name" and self._taken("."):
            value.append(self._of_kind("name", "a name"))
        return ".".join(parts), value

    def _option_name(self) -> str:
        if not self._taken("("):
            return self._name()
        self._taken(".")
        name = self._full_name()
        self._expect(")")
        return name

    def _block(self, first: ProtoToken) -> list[ProtoToken]:
        """The tokens up to the bracket that closes the first one."""
        tokens, open_brackets = [first], [_PAIRS[first.text]]
        while open_brackets:
            token = self._next()
            tokens.append(token)
            if token.text in _PAIRS:
                open_brackets.append(_PAIRS[token.text])
            elif token.kind == "end" or (token.text in _PAIRS.values() and token.text != open_brackets.pop()):
                raise self._unexpected(token, open_brackets[-1] if open_brackets else "another bracket")
        return tokens
