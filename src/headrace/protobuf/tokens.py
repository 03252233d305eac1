"""Tokens of `.proto` files, by the rules of protoc's tokenizer."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from headrace.errors import DataError

Kind = Literal["name", "integer", "fraction", "string", "sign", "end"]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\v\f]+|//[^\n]*|/\*.*?\*/)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<integer>(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(?![A-Za-z0-9_.]))
    |(?P<fraction>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.]))
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')
    |(?P<sign>(?!/\*)[!\#-&(-/:-@\[-`{-~])""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(
    rb"""\\(?:(?P<octal>[0-7]{1,3})|[xX](?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"""
    rb"""|(?P<other>.))""",
    re.DOTALL,
)
_ESCAPED = dict(zip(b"abfnrtv\\?'\"", b"\a\b\f\n\r\t\v\\?'\"", strict=True))


class ProtoToken(NamedTuple):
    """A token and where it begins."""

    kind: Kind
    text: str
    """As in the file."""
    at: int


def tokens_of(text: str) -> list[ProtoToken]:
    """The tokens of a file without comments; the last one is of the kind `end`. Raises DataError for what is no token."""
    tokens: list[ProtoToken] = []
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            problem = f"The Protobuf schema has {text[at]!r} in line {line_of(text, at)}, which is no part of one"
            raise DataError(problem)
        if match.lastgroup != "space":
            tokens.append(ProtoToken(cast("Kind", match.lastgroup), match.group(), at))
        at = match.end()
    tokens.append(ProtoToken("end", "", len(text)))
    return tokens


def line_of(text: str, at: int) -> int:
    """The number of a line, for messages; at: a place in it."""
    return text.count("\n", 0, at) + 1


def unquoted(token: ProtoToken) -> bytes:
    """The bytes that a string stands for. Raises ValueError for an invalid escape sequence."""

    def replaced(match: re.Match[bytes]) -> bytes:
        if octal := match["octal"]:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal := match["hex"]:
            return bytes([int(hexadecimal, 16)])
        if code := match["short"] or match["long"]:
            return chr(int(code, 16)).encode(errors="surrogatepass")
        character = match["other"][0]
        if character not in _ESCAPED:
            raise ValueError(f"\\{chr(character)} is no escape sequence")
        return bytes([_ESCAPED[character]])

    return _ESCAPE.sub(replaced, token.text[1:-1].encode(errors="surrogatepass"))
