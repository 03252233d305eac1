"""Serdes whose schemas are in a registry, read and written by the converters of Kafka Connect's side.

The type of the values is that of the serde's schema. Records have ids of schemas that are unknown when a batch is planned: the
batch fails with the first unknown id, and is planned again once its schema has been read from the registry (`look_up_schemas`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from headrace.converters.base import load
from headrace.converters.registered import RegisteredConverter
from headrace.errors import DataError, StreamsError
from headrace.record import HEADERS_TYPE
from headrace.spark.reports import reports, text_of
from headrace.streams.serdes import RegistrySerde
from headrace.values.columns import column_of, ddl_of
from headrace.values.compile_context import CompileContext
from headrace.values.results import schema_of, with_schema
from headrace.values.schema import Schema
from headrace.values.scope import Scope
from headrace.values.sql import Sql, case, concat, lit, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

T = TypeVar("T")
_CLASSES = {
    "avro": "io.confluent.connect.avro.AvroConverter",
    "protobuf": "io.confluent.connect.protobuf.ProtobufConverter",
    "json_schema": "io.confluent.connect.json.JsonSchemaConverter",
}
_UNKNOWN = "schema-unknown"
_MAX_SCHEMAS = 500  # schemas that a plan knows
_numbers = itertools.count()
_BY_NUMBER: WeakValueDictionary[str, RegistryFormat] = WeakValueDictionary()


class RegistryFormat:
    """One serde, for keys or for values."""

    def __init__(self, serde: RegistrySerde, part: str) -> None:
        """part: `key` or `value`. Raises ConfigError for unknown options of the converter."""
        self._serde, self._part, self._known = serde, part, list[str]()
        self._number = next(_numbers)
        _BY_NUMBER[str(self._number)] = self
        self._reader = self._converter({})

    def _converter(self, more: dict[str, str]) -> RegisteredConverter:
        converter = load(_CLASSES[self._serde.name], dict(self._serde.options) | more, self._part == "key")
        assert isinstance(converter, RegisteredConverter)
        return converter

    @property
    def _text(self) -> str | None:
        """The text of the schema; None if the serde names a subject."""
        text = (self._serde.schema or "").lstrip()
        is_text = text.startswith(("{", "[", '"')) or (self._serde.name == "protobuf" and ";" in text)
        return text if is_text else None

    @cached_property
    def schema(self) -> Schema:
        """The Connect schema. Raises what `RegisteredConverter.schema_of` does; StreamsError for schemaless data."""
        schema = self._reader.schema_of(self._text, self._serde.schema or "")
        if schema is None:
            raise StreamsError(f"The schema of Serdes.{self._serde.name}(…) says nothing of its data: streams need their type.")
        return schema

    @cached_property
    def type(self) -> DataType:
        """The type of the values. Raises what `schema` does; StreamsError for data that Spark has no type for."""
        from pyspark.sql.types import DataType

        ddl = ddl_of(self.schema)
        if "VARIANT" in ddl:
            raise StreamsError(
                f"Serdes.{self._serde.name}('{self._serde.schema}'): Spark has no type for a map whose keys are no texts, a "
                "record without fields, or one that contains itself."
            )
        return DataType.fromDDL(ddl)

    def read(self, raw: DataFrame) -> tuple[DataFrame, str, str]:
        """The frame with the value, and whether it cannot be read, as two more columns, whose names are returned.

        raw: columns topic, headers and the part that is read.
        """
        context = CompileContext(Scope())
        with context.step("read"):
            value = self._reader.read(context, "in_part", self._known)
            sql = context.scope.bind(column_of(context, value, self.schema, self._part))
        unknown = context.scope.bind(f"string({self._reader.schema_in('in_part', self._known)})")
        report = text_of(_UNKNOWN, concat(lit(f"{self._number} "), unknown))
        failure = f"({context.failure()} IS NOT NULL)"
        bad = case([(f"({unknown} IS NOT NULL)", f"cast(raise_error({report}) as boolean)")], failure)
        value_name, bad_name = (f"{name}{next(_numbers)}" for name in ("read", "bad"))
        columns = [quoted(name) for name in raw.columns]
        inputs = ("topic AS in_topic", f"cast(headers as {HEADERS_TYPE}) AS in_headers", f"{self._part} AS in_part")
        frame = raw.selectExpr("*", *inputs)
        frame = context.scope.apply(frame).selectExpr(*columns, f"{sql} AS {value_name}", f"{bad} AS {bad_name}")
        return frame, value_name, bad_name

    def written(self, frame: DataFrame, column: str, kind: DataType, topic: str, what: str) -> tuple[DataFrame, str]:
        """The frame with the bytes of a column as one more, whose name is returned; its schema is registered before.

        kind: the column's type; what: it is, for messages. Raises StreamsError for data that the schema has no place for.
        """
        id = self._reader.id_of(self._text, self._serde.schema or "", topic)
        writer = self._writer(id)
        declared_schema = self.schema.same_but(optional=True) if kind.simpleString() == self.type.simpleString() else None
        value = with_schema(kind, column, declared_schema)
        registered = writer.registry.schema(id)
        try:
            if problems := writer.misfits(registered, declared_schema or schema_of(kind)):
                raise DataError("; ".join(problems))
            writer.learn_value(value, topic)
        except DataError as error:
            raise StreamsError(f"The {what} cannot be written with {self._serde.name}: {error}") from error
        context = CompileContext(Scope())
        context.topic = lit(topic)
        with context.step("write"):
            data = context.scope.bind(writer.write(context, value))
        failure = context.scope.bind(context.failure())
        sentence = concat(lit(f"The {what} cannot be written: "), f"{failure}.message", f"coalesce({failure}.cause, '')")
        name, columns = f"written{next(_numbers)}", [quoted(existing) for existing in frame.columns]
        failed = (f"({failure} IS NOT NULL)", f"cast(raise_error({sentence}) as binary)")
        nulls = [_null_at(column, path, what) for path in writer.never_null(registered)]
        sql: Sql = case([(f"({column} IS NULL)", "NULL"), *nulls, failed], data)
        return context.scope.apply(frame).selectExpr(*columns, f"{sql} AS {name}"), name

    def _writer(self, id: int) -> RegisteredConverter:
        """The converter that writes with the schema of an id."""
        # Values are fitted to the schema; what does not fit fails with its record. As the schema of what may be NULL here
        # (columns of Spark) is compared, a field that it has as required would not be compatible: see `misfits`, `never_null`.
        fits = {"use.schema.id": str(id), "id.compatibility.strict": "false"}
        writer = self._converter({"auto.register.schemas": "false", "use.latest.version": "false", **fits})
        writer.registry = self._reader.registry  # its responses are kept: a plan of each batch asks for nothing
        return writer

    def look_up_schemas(self, texts: Sequence[str]) -> None:
        """Read schemas from the registry by their ids.

        Raises RegistryUnavailableError, RegistryError for a refused login, StreamsError for too many of them.
        """
        self._reader.look_up(texts)
        self._known = [*self._known, *(text for text in texts if text not in self._known)]
        if len(self._known) > _MAX_SCHEMAS:
            raise StreamsError(
                f"The {self._part}s have more than {_MAX_SCHEMAS} different schemas, which is more than a plan may have."
            )


def _null_at(column: str, path: Sequence[str], what: str) -> tuple[Sql, Sql]:
    """The case of null in a required field of a struct that is there, which fails."""
    *outer, name = (quoted(part) for part in path)
    struct = ".".join([column, *outer])
    sentence = lit(f"The {what} cannot be written: null in the required property {'.'.join(path)}")
    return f"({struct} IS NOT NULL AND {struct}.{name} IS NULL)", f"cast(raise_error({sentence}) as binary)"


@lru_cache(maxsize=256)
def registry_format(serde: RegistrySerde, part: str) -> RegistryFormat:
    """The format of a serde, with the schemas known so far: one per process."""
    return RegistryFormat(serde, part)


def with_schema_lookup(action: Callable[[], T], again: Callable[[], None] = lambda: None) -> T:
    """Run an action on records whose schemas may be unknown. again: called before it is retried, with those schemas.

    Raises the action's errors, and RegistryUnavailableError.
    """
    while True:
        try:
            return action()
        except Exception as error:
            if not _look_up_unknown_schemas(error):
                raise
            again()


def _look_up_unknown_schemas(error: BaseException) -> bool:
    """Read the schemas that an error reports as unknown; whether it reports any."""
    learned = False
    for number, _, text in (report.partition(" ") for report in reports(_UNKNOWN, error)):
        if number in _BY_NUMBER and text:
            learned = True
            _BY_NUMBER[number].look_up_schemas([text])
    return learned
