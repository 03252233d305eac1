"""The model of a `.proto` file: messages, fields and enums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class _Type:
    name: str
    """In full, with its package."""

    @property
    def short(self) -> str:
        """The name alone."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Enum(_Type):
    """An enum, whose symbols have numbers."""

    symbols: Mapping[str, int]
    """Each with its number."""
    closed: bool = False
    """Whether numbers without a symbol are invalid, as in proto2."""


@dataclass(frozen=True)
class Field:
    """A field of a message."""

    name: str
    number: int
    type: str
    """A scalar type, or the name of a message or an enum as in the file."""
    label: str = ""
    """`optional`, `required`, `repeated`, or nothing."""
    map_key: str | None = None
    """The type of the keys of a map, whose values are of `type`."""
    oneof: str | None = None
    """The name of the oneof that it is in; None for none."""
    packed: bool | None = None
    """None if the file does not set it."""
    default: int | float | bool | str | bytes | None = None
    """What an absent field is read as; of an enum its symbol. None if the file does not set it."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Of `(confluent.field_meta)`."""


@dataclass(frozen=True)
class Message(_Type):
    """A message."""

    fields: tuple[Field, ...]
    """In the order of the text."""
    oneofs: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    """Those that are declared in it, as `enums`."""
    enums: tuple[Enum, ...] = ()
    is_proto2: bool = False


@dataclass(frozen=True)
class File:
    """What a `.proto` file declares, without what it imports."""

    package: str
    imports: tuple[str, ...]
    """Paths, in the order of the text."""
    messages: tuple[Message, ...]
    enums: tuple[Enum, ...]
    is_proto2: bool


def all_types(messages: tuple[Message, ...], enums: tuple[Enum, ...]) -> Iterator[Message | Enum]:
    """The types and all nested types."""
    yield from enums
    for message in messages:
        yield message
        yield from all_types(message.messages, message.enums)
