"""What a converter is: the bytes that Kafka stores to Connect data, and back."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from headrace.config import Config, Importance, Type, option
from headrace.config.example import Example
from headrace.config.types import trim
from headrace.errors import ConfigError
from headrace.values.record import HeaderWriter
from headrace.values.sql import Sql, call, lit

if TYPE_CHECKING:
    from headrace.values.compile_context import CompileContext
    from headrace.values.value import Value


def schema_id_header(part: str) -> str:
    """The header that may say which schema of a registry a record's `key` or `value` was written with."""
    return f"__{part}_schema_id"


def without_schema_ids(headers: Sql, parts: Sequence[str]) -> Sql:
    """Headers without those that say which schema data was read with; parts: those written with another one."""
    if not parts:
        return headers
    names = lit("".join("\0" + schema_id_header(part) for part in parts))
    return f"CASE WHEN size({headers}) > 0 THEN {call('headrace_headers_without', headers, names)} ELSE {headers} END"


class ConverterType(Config):
    """What almost every converter has; the worker fills it in."""

    converter_type: str = option("converter.type", Type.STRING, importance=Importance.LOW, doc="How this converter will be used.")


class ConverterReader(Protocol):
    """What reads the keys, or the values, of records (see `Converter`)."""

    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value: ...  # noqa: D102

    def schema_in(self, source: Sql, known: Sequence[str]) -> Sql | None: ...  # noqa: D102

    def look_up(self, texts: Iterable[str]) -> None: ...  # noqa: D102


class ConverterWriter(Protocol):
    """What makes the column of keys, or of values (see `Converter`); a sink's may make one of any type."""

    registers: ClassVar[bool]

    @property
    def renew_at(self) -> float: ...  # noqa: D102

    def write(self, run: CompileContext, value: Value) -> Sql: ...  # noqa: D102

    def learn(self, wanted: Iterable[str], register: bool = True) -> None: ...  # noqa: D102

    def renew(self) -> bool: ...  # noqa: D102


class HeaderReader(Protocol):
    """What reads the headers of records (see `HeaderConverter`)."""

    def read(self, run: CompileContext, headers: Sql) -> Sql: ...  # noqa: D102


@dataclass(frozen=True)
class Writers:
    """What writes keys, values and headers: converters, or what a sink has in their place."""

    key: ConverterWriter
    value: ConverterWriter
    header: HeaderWriter
    topic_prefix: str = ""
    """What the sink puts before the name of the topic that it writes a record to: subjects of a registry follow that."""


class WithoutRegistry:
    """What reads or writes data without having to ask for anything outside of the record first."""

    registers: ClassVar[bool] = False
    """Whether `write` asks for the schemas of records before it writes them (`CompileContext.ask`, `learn`)."""

    def look_up(self, texts: Iterable[str]) -> None:
        """Find out what `read` needs of schemas that `schema_in` has found. Raises RetriableError if that cannot be done now."""

    @property
    def renew_at(self) -> float:
        """Until when holds what `learn` has found, by time.monotonic; infinite: for ever."""
        return math.inf

    def learn(self, wanted: Iterable[str], register: bool = True) -> None:
        """Find out what `write` has asked for; register: it may change something outside. Raises RetriableError."""

    def renew(self) -> bool:
        """Look again at what `learn` has found if its time is over; returns whether something else holds now.

        If that cannot be done now, what was found holds on. Raises ConnectError.
        """
        return False


class Converter(ConverterType, WithoutRegistry, ABC):
    """One converter instance, for the keys or for the values of one connector; its options are attributes."""

    version: ClassVar[str | None] = None
    examples: ClassVar[Sequence[Example]] = ()
    """What it does; printed in the docs, and run by a test."""

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """props: the converter's own settings, prefix (`key.converter.`) taken off. Raises ConfigError."""
        self.is_key = is_key
        super().__init__({**props, "converter.type": "key" if is_key else "value"})

    @abstractmethod
    def read(self, run: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Connect data from a binary column; what cannot be read is a fault of the run's present step.

        schemas: the texts of the schemas that the records may carry, for a converter whose records carry them (`schema_in`).
        """

    @abstractmethod
    def write(self, run: CompileContext, value: Value) -> Sql:
        """The binary that is stored, NULL for none; what cannot be written is a fault of the run's present step."""

    def schema_in(self, source: Sql, known: Sequence[str]) -> Sql | None:
        """The text of the schema that a record carries if it is none of the known ones, else NULL.

        None: records carry no schemas, nothing has to be known of them before they are read.
        """
        return None


class HeaderConverter(Config, HeaderWriter, ABC):
    """One header converter instance; its options are attributes."""

    version: ClassVar[str | None] = None

    def __init__(self, props: Mapping[str, str]) -> None:
        """props: the converter's own settings, prefix (`header.converter.`) taken off. Raises ConfigError."""
        super().__init__({**props, "converter.type": "header"})

    def read(self, run: CompileContext, headers: Sql) -> Sql:
        """Headers (array<struct<key:string,value:binary>>) as this converter writes what it reads."""
        return headers


def normal_headers(run: CompileContext, headers: Sql, mode: str) -> Sql:
    """Headers whose values are read and written again; a value that cannot be read is a fault of the present step."""
    normal = run.scope.bind(call("headrace_headers_normal", headers, lit(mode)))
    what = "Converting byte[] to Kafka Connect data failed due to serialization error: "
    run.fail(f"({normal}.error IS NOT NULL)", lit(what), cause=f"{normal}.error")
    return f"{normal}.headers"


def load(name: str, props: Mapping[str, str], is_key: bool) -> Converter:
    """The converter of this class name or alias. Raises ConfigError if there is none."""
    from headrace import plugins

    return _found("key.converter" if is_key else "value.converter", name, plugins.Kind.CONVERTER, props)(props, is_key)


def load_header(name: str, props: Mapping[str, str]) -> HeaderConverter:
    """The header converter of this class name or alias. Raises ConfigError if there is none."""
    from headrace import plugins

    return _found("header.converter", name, plugins.Kind.HEADER_CONVERTER, props)(props)


def _found(option: str, name: str, kind: str, props: Mapping[str, str]) -> type:
    from headrace import plugins
    from headrace.connect_config.versions import with_version
    from headrace.errors import NotFoundError

    try:
        return with_version(plugins.find(trim(name), kind), props.get("plugin.version"))
    except NotFoundError as e:
        raise ConfigError.invalid(option, name, f"Class {name} could not be found.") from e
