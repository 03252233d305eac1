"""Checks of what operators and options are given, which in Kafka the compiler makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from headrace.errors import ArgumentError
from headrace.streams.functions import check_function
from headrace.streams.serdes import Serde

Choice = TypeVar("Choice", bound=StrEnum)
_NAMES: dict[Any, str] = {Callable: "a function or a class", int: "an int"}


def choice(kind: type[Choice], value: object, what: str) -> Choice:
    """A value of an enum, or what its text means. what: the parameter's name, for the ArgumentError if it is neither."""
    try:
        return kind(value)
    except ValueError:
        choices = " or ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise ArgumentError(f"`{what}` is {value!r}, but should be {choices}.") from None


def check_serdes(supplier: object) -> None:
    """Raise ArgumentError if the `key_serde` or `value_serde` of a supplier, which needs neither, is no Serde."""
    for name in ("key_serde", "value_serde"):
        serde = getattr(supplier, name, None)
        if serde is not None and not isinstance(serde, Serde):
            raise ArgumentError(f"`{name}` of {supplier!r} is {serde!r}, but should be a Serde.")


def check_fields(value: Any) -> None:
    """Raise ArgumentError for a field of a dataclass that is not of its type: a serde that is a text, a function that is none, or
    that takes none of the numbers of arguments of its type.
    """
    for name, kinds in _types(type(value)).items():
        content = getattr(value, name)
        if not isinstance(content, kinds):
            expected = " or ".join(_NAMES.get(kind, f"a {kind.__name__}") for kind in kinds if kind is not NoneType)
            raise ArgumentError(f"`{name}` is {content!r}, but should be {expected}.")
    for name, kind in _functions(type(value)).items():
        if callable(content := getattr(value, name)):
            check_function(content, name, kind)


@cache
def _types(owner: type) -> dict[str, tuple[type, ...]]:
    """The types that each field of a dataclass may have, but for those that may be anything."""
    hints = get_type_hints(owner)
    parts = {field.name: _alternatives(hints[field.name]) for field in fields(owner)}
    return {name: kinds for name, kinds in parts.items() if Any not in kinds}


@cache
def _functions(owner: type) -> dict[str, Any]:
    """The fields that are functions with a number of arguments, with their kinds (`headrace.streams.functions`)."""
    hints = get_type_hints(owner, include_extras=True)
    kinds = ((field.name, kind) for field in fields(owner) for kind in (hints[field.name], *get_args(hints[field.name])))
    return {name: kind for name, kind in kinds if get_origin(kind) is Annotated}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The classes of a union, or of one type: `Mapping[str, str] | None` is a Mapping or None."""
    alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(get_origin(kind) or kind for kind in alternatives)
