"""What a converter is: Columns of a record's key or value to the bytes that Kafka stores.

(The way back, bytes to typed or schemaless Columns, comes with the transforms.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from headrace.config import ConfigDef, Importance, Option, Type
from headrace.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column


def type_option() -> Option:
    """`converter.type`, which every converter has; the worker fills it in."""
    return Option("converter.type", Type.STRING, importance=Importance.LOW, doc="How this converter will be used.")


class Converter(ABC):
    """One converter instance, for the keys or for the values of one connector."""

    version: ClassVar[str | None] = None

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """props: the converter's own settings, prefix (`key.converter.`) taken off."""
        self.settings = self.definition().parse({**props, "converter.type": "key" if is_key else "value"})
        self.is_key = is_key

    @classmethod
    @abstractmethod
    def definition(cls) -> ConfigDef:
        """The converter's options."""

    @abstractmethod
    def to_bytes(self, column: Column, kind: str) -> Column:
        """Convert a Column of this kind ("bytes": binary, "string": string) to the binary that is stored.

        Raises DataError if this converter cannot write that kind at all.
        """


class HeaderConverter(ABC):
    """One header converter instance."""

    version: ClassVar[str | None] = None

    def __init__(self, props: Mapping[str, str]) -> None:
        self.settings = self.definition().parse({**props, "converter.type": "header"})

    @classmethod
    @abstractmethod
    def definition(cls) -> ConfigDef:
        """The converter's options."""


def load(name: str, props: Mapping[str, str], is_key: bool) -> Converter:
    """The converter of this class name or alias. Raises ConfigError if there is none."""
    from headrace import plugins
    from headrace.errors import NotFoundError

    option = "key.converter" if is_key else "value.converter"
    try:
        return plugins.find(name, plugins.Kind.CONVERTER)(props, is_key)
    except NotFoundError as e:
        raise ConfigError.invalid(option, name, f"Class {name} could not be found.") from e
