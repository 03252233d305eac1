"""Serdes by name; the engine compiles them to Columns (`headrace.streams.engine.formats`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.errors import StreamsError


@dataclass(frozen=True)
class Serde:
    """A format of keys or values."""

    name: str
    schema: str | None = None
    """Of JSON, Spark's type as DDL text; None is a VARIANT."""


@dataclass(frozen=True)
class WindowedSerde(Serde):
    """A key together with its window: Kafka's `TimeWindowedSerde` or `SessionWindowedSerde`."""

    inner: Serde | None = None
    """Of the key alone."""
    size_ms: int | None = None
    """Of a time window; None for sessions."""


@dataclass(frozen=True)
class RegistrySerde(Serde):
    """A format whose schemas are in a registry; `schema` is a subject, or the text of a schema."""

    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Of the converter that reads and writes it, the registry's among them."""


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

        schema: the type to read, as DDL (`carrier string, delay double`, or any type such as `array<string>`); without it a value
        is a VARIANT, from which Spark's `variant_get` extracts parts. Raises StreamsError for what is no text.
        """
        if schema is not None and not isinstance(schema, str):
            raise StreamsError("The schema of Serdes.json(…) has to be a text: a type as DDL.")
        return Serde("json", schema)

    @staticmethod
    def avro(schema: str, registry: str | Mapping[str, str]) -> Serde:
        """Avro behind the id of its schema in a registry, as Confluent's `KafkaAvroSerializer` writes it.

        schema: the text of an Avro schema, or a subject, whose newest version it is: the type of the values, by which they are
        written; records of other versions are read by their own schemas, and fitted to it by the names of their fields.
        registry: the URL of the registry, or options of `AvroConverter` (docs/options-converters.md) with `schema.registry.url`.
        Internal topics of the application hold plain JSON instead. Raises StreamsError for what is no text.
        """
        return _registered("avro", schema, registry)

    @staticmethod
    def protobuf(schema: str, registry: str | Mapping[str, str]) -> Serde:
        """The same for Protobuf: the text of a `.proto` file, whose first message it is, or a subject; options of
        `ProtobufConverter`.
        """
        return _registered("protobuf", schema, registry)

    @staticmethod
    def json_schema(schema: str, registry: str | Mapping[str, str]) -> Serde:
        """The same for JSON with a JSON Schema; options of `JsonSchemaConverter`."""
        return _registered("json_schema", schema, registry)


def _registered(name: str, schema: str, registry: str | Mapping[str, str]) -> Serde:
    if not isinstance(registry, str | Mapping):
        raise StreamsError(f"The registry of Serdes.{name}(…) has to be a URL, or options with schema.registry.url.")
    options = {"schema.registry.url": registry} if isinstance(registry, str) else dict(registry)
    if not isinstance(schema, str) or not schema.strip():
        raise StreamsError(f"The schema of Serdes.{name}(…) has to be a text: of a schema (json.dumps of a dict), or a subject.")
    for option, value in options.items():
        if not isinstance(value, str | int | float):
            raise StreamsError(f"The option {option} of Serdes.{name}(…) has to be a text, as in a configuration.")
    return RegistrySerde(name, schema, tuple(sorted(options.items())))


_KAFKA = {"String": "string", "Long": "long", "Integer": "integer", "Short": "short", "Double": "double", "Float": "float",
          "Boolean": "boolean", "ByteArray": "byte_array", "Bytes": "byte_array"}  # fmt: skip
_NAMES = (*_KAFKA.values(), "json")


def serde_from_config(setting: object) -> Serde | None:
    """The serde of a setting: a Serde, its name, or the class name of one of Kafka's; None for anything else."""
    if isinstance(setting, Serde):
        return setting
    text = str(setting or "")
    simple = text.rpartition("$")[2].removesuffix("Serde")
    if text.startswith("org.apache.kafka.common.serialization.Serdes$") and simple in _KAFKA:
        return Serde(_KAFKA[simple])
    return Serde(text) if text in _NAMES else None
