"""Java's `.properties` files: the format of the configuration files of Kafka's workers, connectors and clients.

The syntax is that of `java.util.Properties.load`: `#` and `!` comments, `key=value`, `key:value`, `key value`, a
backslash at the end of a line continues it, `\\t \\n \\f \\r \\uXXXX` escapes. One rule is wider than Java's: a file
that is valid UTF-8 is read as UTF-8, any other as ISO-8859-1 (Java: always the latter), so that unescaped text
survives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from headrace.errors import ConfigError, SetupError

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_UNICODE = re.compile(r"[0-9a-fA-F]{4}")


def load_properties(path: str | Path) -> dict[str, str]:
    """Read a properties file; of a key given twice the last value stays.

    Raises SetupError if the file cannot be read, ConfigError for a bad `\\u` escape.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SetupError(f"Cannot read the properties file {path}: {error.strerror}.") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("iso-8859-1")
    return parse_properties(text, source=str(path))


def parse_properties(text: str, source: str = "properties") -> dict[str, str]:
    """Read the text of a properties file; `source` names it in errors. Raises ConfigError for a bad `\\u` escape."""
    properties: dict[str, str] = {}
    for line in _logical_lines(text):
        end = _key_end(line)
        value_text = line[end:].lstrip(_BLANK)
        if value_text[:1] in ("=", ":"):
            value_text = value_text[1:].lstrip(_BLANK)
        properties[_unescape(line[:end], source)] = _unescape(value_text, source)
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    pending: str | None = None
    lines = _LINE_END.split(text)
    for at_end, raw in ((number == len(lines), raw) for number, raw in enumerate(lines, 1)):
        line = raw.lstrip(_BLANK)
        fresh = not pending  # after a line that is only a backslash too, as in Java
        if fresh and (not line or line[0] in "#!") and not (at_end and pending == "" and not raw):
            pending = None
            continue
        line = (pending or "") + line
        if _continues(line):
            pending = line = line[:-1]
            if not at_end:
                continue
        pending = None
        yield line


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _key_end(line: str) -> int:
    at = 0
    while at < len(line) and line[at] not in "=:" + _BLANK:
        at += 2 if line[at] == "\\" else 1
    return min(at, len(line))


def _unescape(text: str, source: str) -> str:
    out, at = [], 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\":
            out.append(char)
            continue
        code = text[at : at + 1]
        at += 1
        if code != "u":
            out.append(_ESCAPES.get(code, code))
            continue
        if not _UNICODE.fullmatch(text[at : at + 4]):
            raise ConfigError(
                f"Malformed \\uxxxx encoding in {source}: got \\u{text[at : at + 4]}, want four hexadecimal digits."
            )
        out.append(chr(int(text[at : at + 4], 16)))
        at += 4
    return _join_surrogates("".join(out))


def _join_surrogates(text: str) -> str:
    """Two escapes that are the halves of one character beyond U+FFFF become that character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if re.search("[\ud800-\udfff]", text) else text
