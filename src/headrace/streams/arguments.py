"""Checks of what operators and options are given, which in Kafka the compiler makes."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from headrace.errors import ArgumentError

Choice = TypeVar("Choice", bound=StrEnum)


def choice(kind: type[Choice], value: object, what: str) -> Choice:
    """A value of an enum, or what its text means. what: the parameter's name, for the ArgumentError if it is neither."""
    try:
        return kind(value)
    except ValueError:
        choices = " or ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise ArgumentError(f"`{what}` is {value!r}, but should be {choices}.") from None
