"""Serdes as Columns: bytes of a topic into typed values, and back, in the binary forms of Kafka's own serdes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.sql_functions import F
from headrace.streams.engine.registry_formats import registry_format
from headrace.streams.serdes import RegistrySerde, Serde, Serdes, WindowedSerde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_TYPES = {
    "string": "string", "long": "bigint", "integer": "int", "short": "smallint", "double": "double", "float": "float",
    "boolean": "boolean", "byte_array": "binary",
}  # fmt: skip
_WIDTHS = {"long": 8, "integer": 4, "short": 2, "double": 8, "float": 4, "boolean": 1}
_FITS = {
    "string": ("string",), "long": ("bigint", "int", "smallint", "tinyint"), "integer": ("int", "smallint", "tinyint"),
    "short": ("smallint", "tinyint"), "double": ("double", "float"), "float": ("float",), "boolean": ("boolean",),
    "byte_array": ("binary",),
}  # fmt: skip
_CORRUPT = "__corrupt"


def type_of(serde: Serde) -> DataType:
    """The type of the values of a serde; JSON without a schema is VARIANT."""
    from pyspark.sql import types

    if isinstance(serde, WindowedSerde):
        inner = type_of(serde.inner or Serdes.byte_array())
        fields = [("key", inner), ("start", types.LongType()), ("end", types.LongType())]
        return types.StructType([types.StructField(name, kind) for name, kind in fields])
    if isinstance(serde, RegistrySerde):
        return registry_format(serde, "value").type
    if serde.name == "json":
        return types.VariantType() if serde.schema is None else parse(serde.schema)
    return parse(_TYPES[serde.name])


def parse(text: str) -> DataType:
    """A type from its DDL text. Raises StreamsError if it is none."""
    from pyspark.sql.types import DataType

    try:
        return DataType.fromDDL(text)
    except Exception as error:
        raise StreamsError(f"'{text}' is not a schema that Spark reads: {str(error).splitlines()[0]}") from error


def inferred(kind: DataType) -> Serde:
    """The serde that writes a type if the user named none: Kafka's own for simple types, JSON for everything else."""
    name = next((name for name, of in _TYPES.items() if of == kind.simpleString()), None)
    return Serde(name) if name else Serde("json", kind.simpleString())


def decoded(serde: Serde, source: Column, kind: DataType | None = None) -> tuple[Column, Column]:
    """The value of some bytes, and whether this serde cannot read them. kind: the type, where it is more precise than the
    serde's. For a serde with a registry: of an internal topic, which has no schemas; see `read` for others.
    """
    if isinstance(serde, WindowedSerde):
        return _windowed(serde, source)
    if isinstance(serde, RegistrySerde):
        serde = inferred(kind or type_of(serde))
    if serde.name == "json":
        return _json(source, kind or type_of(serde))
    if serde.name == "string":
        return F.call_function("headrace_decode", source, F.lit("UTF-8")), F.lit(False)
    if serde.name == "byte_array":
        return source, F.lit(False)
    bad = source.isNotNull() & (F.length(source) != _WIDTHS[serde.name])
    if serde.name == "boolean":
        return source == F.lit(b"\x01"), source.isNotNull() & ~source.isin(b"\x00", b"\x01")
    function = "headrace_bytes_double" if serde.name in ("double", "float") else "headrace_bytes_long"
    return F.when(~bad, F.call_function(function, source)).cast(_TYPES[serde.name]), F.coalesce(bad, F.lit(False))


def encoded(serde: Serde | None, value: Column, kind: DataType, what: str) -> Column:
    """The bytes of a value. what: its description, for the StreamsError if the serde cannot write this type."""
    serde = inferred(kind) if serde is None or isinstance(serde, RegistrySerde) else serde
    name = kind.simpleString()
    if isinstance(serde, WindowedSerde):
        return _windowed_bytes(serde, value, kind, what)
    if serde.name == "json":
        return _json_text(value, name).cast("binary")
    if name not in _FITS[serde.name]:
        raise StreamsError(
            f"The {what} is of Spark's type {name}, which the {serde.name} serde does not write. Give it a serde that does, "
            f"such as Serdes.{inferred(kind).name}(), or change its type."
        )
    if serde.name in ("string", "byte_array"):
        return value.cast("binary")
    if serde.name == "boolean":
        return F.when(value, F.lit(b"\x01")).when(~value, F.lit(b"\x00"))
    width = F.lit(_WIDTHS[serde.name])
    if serde.name in ("double", "float"):
        return F.call_function("headrace_double_bytes", value.cast("double"), width)
    return F.call_function("headrace_long_bytes", value.cast("bigint"), width)


def read(raw: DataFrame, part: str, serde: Serde) -> tuple[DataFrame, Column, Column]:
    """The key or value of records of a topic that is not internal, as `decoded`, over the frame that is returned.

    raw: columns topic, headers and `part`.
    """
    if not isinstance(serde, RegistrySerde):
        return raw, *decoded(serde, F.col(part))
    frame, value, bad = registry_format(serde, part).read(raw)
    return frame, F.col(value), F.col(bad)


def written(
    frame: DataFrame, column: str, part: str, serde: Serde | None, kind: DataType, topic: str | None, what: str
) -> tuple[DataFrame, Column]:
    """The bytes of a column for a topic that is not internal, as `encoded`, over the frame that is returned.

    topic: its full name, None if it depends on the record.
    """
    inner = serde.inner if isinstance(serde, WindowedSerde) else None
    if isinstance(inner, RegistrySerde):
        raise StreamsError(f"The {what}: a windowed key has no schema in a registry; map it to a key of its own before the sink.")
    if not isinstance(serde, RegistrySerde):
        return frame, encoded(serde, F.col(column), kind, what)
    if topic is None:
        raise StreamsError(f"The {what}: Serdes.{serde.name}(…) needs a topic with a fixed name, whose subject its schema has.")
    with_bytes, name = registry_format(serde, part).written(frame, column, kind, topic, what)
    return with_bytes, F.col(name)


def long_bytes(value: Column) -> Column:
    """8 bytes, big endian."""
    return F.call_function("headrace_long_bytes", value, F.lit(8))


def _json(source: Column, kind: DataType) -> tuple[Column, Column]:
    from pyspark.sql.types import StringType, StructField, StructType, VariantType

    text = F.call_function("headrace_decode", source, F.lit("UTF-8"))
    if isinstance(kind, VariantType):
        value = F.try_parse_json(text)
        return value, source.isNotNull() & value.isNull()
    if isinstance(kind, StructType):
        schema = StructType([*kind.fields, StructField(_CORRUPT, StringType())])
        read = F.from_json(text, schema, {"columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"})
        fields = F.struct(*[read[name].alias(name) for name in kind.names])
        return F.when(read.isNotNull(), fields), F.coalesce(read[_CORRUPT].isNotNull(), F.lit(False))
    boxed = StructType([StructField("x", kind), StructField(_CORRUPT, StringType())])
    read = F.from_json(
        F.concat(F.lit('{"x":'), text, F.lit("}")), boxed, {"columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}
    )
    return read["x"], F.coalesce(read[_CORRUPT].isNotNull(), F.lit(False))


def _json_text(value: Column, name: str) -> Column:
    options = {"ignoreNullFields": "false"}
    if name.startswith(("struct", "variant")):
        return F.to_json(value, options)
    text = F.to_json(F.array(value), options)
    return F.when(value.isNotNull(), F.substr(text, F.lit(2), F.length(text) - 2))


def window_bytes(serde: WindowedSerde) -> int:
    """How many bytes at the end of a windowed key are its window."""
    return 16 if serde.name == "session_windowed" else 8


def _windowed(serde: WindowedSerde, source: Column) -> tuple[Column, Column]:
    session, key_length = serde.name == "session_windowed", F.length(source) - window_bytes(serde)
    key, bad = decoded(serde.inner or Serdes.byte_array(), F.substr(source, F.lit(1), key_length))
    last = F.call_function("headrace_bytes_long", F.substr(source, F.length(source) - 7, F.lit(8)))
    if session:
        end = F.call_function("headrace_bytes_long", F.substr(source, F.length(source) - 15, F.lit(8)))
    else:
        end = last + F.lit(serde.size_ms or 0)
    value = F.struct(key.alias("key"), last.alias("start"), end.alias("end"))
    return F.when(source.isNotNull(), value), bad


def _windowed_bytes(serde: WindowedSerde, value: Column, kind: Any, what: str) -> Column:
    key = encoded(serde.inner, value["key"], kind["key"].dataType, what)
    if serde.name == "session_windowed":
        return F.concat(key, long_bytes(value["end"]), long_bytes(value["start"]))
    return F.concat(key, long_bytes(value["start"]))
