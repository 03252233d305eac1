"""Content negotiation as Jersey does it: every resource of Connect consumes and produces `application/json` only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

JSON = "application/json"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE = rf'{_TOKEN}|"(?:[^"\\]|\\.)*"'
_TYPE = re.compile(rf"\s*({_TOKEN})(?:/({_TOKEN}))?")
_PARAMETER = re.compile(rf"\s*;\s*(?:({_TOKEN})=({_VALUE}))?")
_ITEM = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.)*"?)*)(?:,|$)')
_QUALITY = re.compile(r"0?\.[0-9]{1,3}|0\.?|1(\.0{0,3})?")


class MediaTypeError(ValueError):
    """A header names no media type: Jersey answers with 400."""


@dataclass(frozen=True)
class MediaType:
    """A media type, or a range of them, with its parameters in order of their names; all names are in lower case."""

    name: str
    parameters: tuple[tuple[str, str], ...] = ()
    """Values have quotes only where they need them."""
    quality: float = 1.0
    """From 0 to 1: `q` of an Accept header."""

    @property
    def wildcards(self) -> int:
        """How many of its two parts are left open: it is a range if any is."""
        return self.name.split("/").count("*")

    def includes(self, name: str) -> bool:
        """Whether this is the type of this name, or a range with it."""
        kind, _, subtype = name.partition("/")
        return self.name in (name, f"{kind}/*", f"*/{subtype}", "*/*")

    def __str__(self) -> str:
        return ";".join([self.name, *(f"{name}={value}" for name, value in self.parameters)])

    def of_answer(self) -> str:
        """The `Content-Type` of an answer of this type: without what ranks it, the character set in lower case."""
        kept = [(n, v.lower() if n == "charset" else v) for n, v in self.parameters if n not in ("q", "qs")]
        return str(MediaType(self.name, tuple(kept)))


def content_type(header: str) -> MediaType:
    """The type that a `Content-Type` header names. Raises MediaTypeError."""
    media_type = _parse(header)
    if "/" not in media_type.name:
        raise MediaTypeError(header)
    return media_type


@lru_cache  # clients send few, each with every request, and it is asked for twice
def acceptable(header: str | None) -> tuple[MediaType, ...]:
    """The types that an `Accept` header allows, the preferred ones first; every type without it. Raises MediaTypeError.

    As in Jersey a quality of 0 excludes nothing.
    """
    if header is None or not header.strip():
        return (MediaType("*/*"),)
    *items, _ = (item[1] for item in _ITEM.finditer(header))  # what is left at the end is empty, with or without a comma
    return tuple(sorted(map(_range, items), key=lambda each: (-each.quality, each.wildcards)))


def _range(item: str) -> MediaType:
    media_type = _parse(item)
    quality = 1.0
    for name, value in media_type.parameters:
        if name == "q":
            quality = _quality(value)
    return MediaType(media_type.name if "/" in media_type.name else f"{media_type.name}/*", media_type.parameters, quality)


def _parse(text: str) -> MediaType:
    start = _TYPE.match(text)
    if start is None:
        raise MediaTypeError(text)
    name, parameters, at = start[0].strip().lower(), {}, start.end()
    while text[at:].strip():
        parameter = _PARAMETER.match(text, at)
        if parameter is None:
            raise MediaTypeError(text)
        if parameter[1]:
            parameters[parameter[1].lower()] = _unquoted(parameter[2])
        at = parameter.end()
    return MediaType(name, tuple(sorted(parameters.items())))


def _unquoted(value: str) -> str:
    return value[1:-1] if value.startswith('"') and re.fullmatch(_TOKEN, value[1:-1]) else value


def _quality(value: str) -> float:
    if _QUALITY.fullmatch(value) is None:
        raise MediaTypeError(value)
    return float(value)
