"""How bytes become keys and values: names of formats, which the compiler to Columns reads.

A topology only carries them from operator to operator; nothing is read or written here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Serde:
    """A format of keys or values."""

    name: str
    schema: str | None = None
    """Of JSON, Spark's type as DDL text; None is a VARIANT."""


@dataclass(frozen=True)
class WindowedSerde(Serde):
    """A key together with its window: Kafka's `TimeWindowedSerde` (size in milliseconds) or `SessionWindowedSerde` (no size)."""

    inner: Serde | None = None
    size_ms: int | None = None


class Serdes:
    """The formats of Kafka's `Serdes`, as they are in a topic."""

    @staticmethod
    def string() -> Serde:
        """UTF-8 text."""
        return Serde("string")

    @staticmethod
    def long() -> Serde:
        """8 bytes, big endian."""
        return Serde("long")

    @staticmethod
    def integer() -> Serde:
        """4 bytes, big endian."""
        return Serde("integer")

    @staticmethod
    def short() -> Serde:
        """2 bytes, big endian."""
        return Serde("short")

    @staticmethod
    def double() -> Serde:
        """8 bytes, IEEE 754, big endian."""
        return Serde("double")

    @staticmethod
    def float() -> Serde:
        """4 bytes, IEEE 754, big endian."""
        return Serde("float")

    @staticmethod
    def boolean() -> Serde:
        """1 byte."""
        return Serde("boolean")

    @staticmethod
    def byte_array() -> Serde:
        """Bytes as they are."""
        return Serde("byte_array")

    @staticmethod
    def json(schema: str | None = None) -> Serde:
        """JSON text; not in Kafka's own `Serdes`.

        schema: what is read of it, as DDL (`carrier string, delay double`, or any type such as `array<string>`); without it a
        value is a VARIANT, of which Spark's `variant_get` takes what is wanted.
        """
        return Serde("json", schema)


_KAFKA = {"String": "string", "Long": "long", "Integer": "integer", "Short": "short", "Double": "double", "Float": "float",
          "Boolean": "boolean", "ByteArray": "byte_array", "Bytes": "byte_array"}  # fmt: skip
_NAMES = (*_KAFKA.values(), "json")


def named(given: object) -> Serde | None:
    """A serde by what a configuration says: a Serde, its name, or the class name of one of Kafka's; None for anything else."""
    if isinstance(given, Serde):
        return given
    text = str(given or "")
    simple = text.rpartition("$")[2].removesuffix("Serde")
    if text.startswith("org.apache.kafka.common.serialization.Serdes$") and simple in _KAFKA:
        return Serde(_KAFKA[simple])
    return Serde(text) if text in _NAMES else None
