"""The base of converters: between the bytes in Kafka and Connect data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from headrace.config import Config, Importance, Type, option
from headrace.config.example import Example
from headrace.config.types import trim
from headrace.config.validators import ValidString
from headrace.errors import ConfigError
from headrace.values.compile_context import CompileContext
from headrace.values.record import HeaderWriter
from headrace.values.sql import Sql, call, lit
from headrace.values.value import Value

Used = Callable[[type[Any]], type[Any]]
"""Returns the class to use for a class that a configuration names."""


def schema_id_header(part: str) -> str:
    """The name of the header that may have the id of the registry's schema of a record's `key` or `value`."""
    return f"__{part}_schema_id"


def without_schema_ids(headers: Sql, parts: Sequence[str]) -> Sql:
    """Headers without the schema ids of the data that was read. parts: those that are written with another schema."""
    if not parts:
        return headers
    names = lit("".join("\0" + schema_id_header(part) for part in parts))
    return f"CASE WHEN size({headers}) > 0 THEN {call('headrace_headers_without', headers, names)} ELSE {headers} END"


class ConverterType(Config):
    """The option `converter.type` of almost every converter; the worker sets it."""

    converter_type: str = option(
        "converter.type",
        Type.STRING,
        validator=ValidString("key", "value", "header"),
        importance=Importance.LOW,
        doc="How this converter will be used.",
    )


class ConverterReader(Protocol):
    """Reads the keys, or the values, of records (see `Converter`)."""

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value: ...  # noqa: D102

    def schema_in(self, source: Sql, known_texts: Sequence[str]) -> Sql | None: ...  # noqa: D102

    def look_up(self, texts: Iterable[str], topic: str | None = None) -> None: ...  # noqa: D102


class ConverterWriter(Protocol):
    """Writes the keys, or the values, of records (see `Converter`); that of a sink may write a column of any type."""

    registers: ClassVar[bool]

    @property
    def renew_at(self) -> float: ...  # noqa: D102

    def write(self, context: CompileContext, value: Value) -> Sql: ...  # noqa: D102

    def learn(self, requests: Iterable[str], register: bool = True) -> None: ...  # noqa: D102

    def renew(self) -> bool: ...  # noqa: D102


class HeaderReader(Protocol):
    """Reads the headers of records (see `HeaderConverter`)."""

    def read(self, context: CompileContext, headers: Sql) -> Sql: ...  # noqa: D102


@dataclass(frozen=True)
class Writers:
    """The writers of keys, values and headers: converters, or those that a sink has instead."""

    key: ConverterWriter
    value: ConverterWriter
    header: HeaderWriter
    topic_prefix: str = ""
    """The prefix that the sink adds to the topic's name; the names of subjects in a registry have it too."""


class WithoutRegistry:
    """Reads or writes data without a schema registry or learned schemas."""

    registers: ClassVar[bool] = False
    """Whether `write` requests the schemas of records before it writes them (`CompileContext.request_schema`, `learn`)."""

    def look_up(self, texts: Iterable[str], topic: str | None = None) -> None:
        """Fetch what `read` needs for the schemas that `schema_in` has found. Raises RetriableError if that is impossible now.

        topic: of the first record that has them, None if that is not known.
        """

    @property
    def renew_at(self) -> float:
        """The time at which the results of `learn` expire, of time.monotonic; infinite: never."""
        return math.inf

    def learn(self, requests: Iterable[str], register: bool = True) -> None:
        """Resolve the schemas that `write` has requested; register: new ones may be registered. Raises RetriableError."""

    def renew(self) -> bool:
        """Renew the results of `learn` if they have expired; returns whether they have changed.

        If they cannot be renewed now, the old ones stay valid. Raises ConnectError.
        """
        return False


class Converter(ConverterType, WithoutRegistry, ABC):
    """One converter instance, for the keys or for the values of one connector; its options are attributes."""

    version: ClassVar[str | None] = None
    examples: ClassVar[Sequence[Example]] = ()
    """Configurations with data and result; printed in the docs, and run by a test."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """props: the converter's settings, without the prefix `key.converter.`. Raises ConfigError."""
        self.is_key = is_key
        super().__init__({**props, "converter.type": "key" if is_key else "value"})

    @abstractmethod
    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Connect data from a binary column; data that cannot be read is a fault of the current step.

        schemas: the texts of the schemas that the records may carry, for a converter whose records carry them (`schema_in`).
        """

    @abstractmethod
    def write(self, context: CompileContext, value: Value) -> Sql:
        """The binary to store, NULL for none; a value that cannot be written is a fault of the current step."""

    def schema_in(self, source: Sql, known_texts: Sequence[str]) -> Sql | None:
        """The text of the schema that a record carries if it is not one of the known texts, else NULL.

        None: records carry no schemas, so no schema has to be known before they are read.
        """
        return None


class HeaderConverter(Config, HeaderWriter, ABC):
    """One header converter instance; its options are attributes."""

    version: ClassVar[str | None] = None
    examples: ClassVar[Sequence[Example]] = ()
    """Configurations with the value of a header and its bytes; printed in the docs, and run by a test."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """props: the converter's settings, without the prefix `header.converter.`. Raises ConfigError."""
        super().__init__({**props, "converter.type": "header"})

    def read(self, context: CompileContext, headers: Sql) -> Sql:
        """Headers (array<struct<key:string,value:binary>>) with values read and written again by this converter."""
        return headers


def normal_headers(context: CompileContext, headers: Sql, mode: str) -> Sql:
    """Headers whose values are read and written again; a value that cannot be read is a fault of the current step."""
    normal = context.scope.bind(call("headrace_headers_normal", headers, lit(mode)))
    problem = "Converting byte[] to Kafka Connect data failed due to serialization error: "
    context.fail(f"({normal}.error IS NOT NULL)", lit(problem), cause=f"{normal}.error")
    return f"{normal}.headers"


def load(name: str, props: Mapping[str, str], is_key: bool, used: Used | None = None, beside: str | None = None) -> Converter:
    """The converter of this class name or alias. Raises ConfigError if there is none.

    used: returns the class to use for it; beside: the location of the connector that names it (`with_version`).
    """
    from headrace import plugins

    option = "key.converter" if is_key else "value.converter"
    return _find_class(option, name, plugins.Kind.CONVERTER, props, used, beside)(props, is_key)


def load_header(name: str, props: Mapping[str, str], used: Used | None = None, beside: str | None = None) -> HeaderConverter:
    """The header converter of this class name or alias; used, beside: as of `load`. Raises ConfigError if there is none."""
    from headrace import plugins

    return _find_class("header.converter", name, plugins.Kind.HEADER_CONVERTER, props, used, beside)(props)


def _find_class(option: str, name: str, kind: str, props: Mapping[str, str], used: Used | None, beside: str | None) -> type:
    from headrace import plugins
    from headrace.connect_config.versions import with_version
    from headrace.errors import NotFoundError

    try:
        cls = plugins.find(trim(name), kind)
        return with_version(used(cls) if used else cls, props.get("plugin.version"), beside)
    except NotFoundError as e:
        raise ConfigError.invalid(option, name, f"Class {name} could not be found.") from e
