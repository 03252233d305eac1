"""The base of the converters with a schema registry: schema ids before the data, lookup and entry of schemas."""

from __future__ import annotations

import base64
import json
import math
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import structlog

from headrace.converters.base import Converter, schema_id_header
from headrace.converters.record_schema import entry_of, schema_of_record
from headrace.converters.schema_faults import FailedSchemas, require_scales, require_sound, schema_faults
from headrace.errors import ConfigError, DataError
from headrace.record import HEADERS_TYPE
from headrace.registry import unsupported_options
from headrace.registry.client import RegisteredSchema, Registry, SubjectVersion
from headrace.registry.errors import InvalidResponseError, RegistryError
from headrace.registry.newest_versions import NewestVersions
from headrace.registry.options import NO_CONTEXT, RegistryConfig, flag
from headrace.registry.reading import Reading
from headrace.registry.settings import registry_settings
from headrace.registry.subjects import strategy_of, subject_of
from headrace.registry.usage import SchemaUses
from headrace.values.compile_context import CompileContext
from headrace.values.recursion import folded
from headrace.values.schema import Schema
from headrace.values.schema_parsing import parse
from headrace.values.sql import Sql, call, case, concat, lit
from headrace.values.value import NULL, Case, TypedValue, Value, combined, only_when
from headrace.values.writing import JsonWriter, schema_text

log = structlog.get_logger(__name__)

_GUID_LENGTH = 36  # as text; ids are shorter, and may have a sign
_MAX_TARGETS = 256  # Connect schemas whose ids and plans a converter keeps; others are looked up again


@dataclass(frozen=True)
class Writing:
    """How data of one schema is written."""

    plan: Any
    prefix: bytes = b""
    """The bytes between the id and the payload."""


@dataclass(frozen=True)
class _RegisteredReading:
    """How data of a schema of the registry is read, and where the registry has the schema."""

    id: int
    reading: Reading
    entries: Sequence[SubjectVersion]

    def entry(self, part: str, topic: str | None) -> tuple[str | None, int | None]:
        """The subject that the data of a topic has it from, and its version in it; None where that is not known."""
        if not self.entries:
            return None, None
        chosen = entry_of(self.entries, part, topic)
        return chosen.subject, chosen.version


class RegisteredConverter(RegistryConfig, Converter):
    """Reads and writes data whose schema is in a registry; the id of the schema precedes the data."""

    registers: ClassVar[bool] = True
    format: ClassVar[str]
    """The format of the data, for messages: Avro, JSON, Protobuf."""
    type: ClassVar[str]
    """The registry's name of the format."""
    leaves_out_null: ClassVar[bool] = False
    """Whether a field that is null is left out where a value is required; else it is a fault."""
    indexed: ClassVar[bool] = False
    """Whether the indexes of a message follow the id."""
    problems: ClassVar[tuple[str, str]]
    """The error messages for data that cannot be read and for data that cannot be written, with `{}` for the topic."""

    generalized_sum_types: bool = flag(
        "generalized.sum.type.support", False, "Stand for unions and enums by Connect's generalized types."
    )
    ignore_default_for_nullables: bool = flag(
        "ignore.default.for.nullables", False, "Write null for null, not the default of the field."
    )

    def __init__(self, props: Mapping[str, str], is_key: bool) -> None:
        """props: as for `Converter`. Raises ConfigError for invalid settings of the registry."""
        super().__init__(props, is_key)
        self._settings = registry_settings(self)
        if ignored_options := unsupported_options.ignored_options(props):
            log.warning("converter.options.ignored", options=", ".join(ignored_options))
        self._targets: dict[str, dict[str, dict[str, Any]]] = {}  # by schema, then by topic; the last requested at the end
        self._schemas: dict[str, Schema | None] = {}  # the schemas that a chain can write, by their texts
        self._newest = NewestVersions(math.inf if self.latest_cache_ttl_s < 0 else self.latest_cache_ttl_s)
        self._is_stale = False  # a subject has a newer version than the one that targets were resolved with
        self._failed = FailedSchemas()
        self.uses = SchemaUses()

    def check(self) -> None:
        """Refuse unknown strategies, and options of Confluent's that are not supported and would change the data."""
        _ = self._strategy
        unsupported_options.require_supported(self.originals)
        if self.context_name_strategy != NO_CONTEXT:
            raise ConfigError.invalid("context.name.strategy", self.context_name_strategy, f"there is {NO_CONTEXT}")

    @property
    def _strategy(self) -> str:
        option = f"{self.part}.subject.name.strategy"
        return strategy_of(option, self[option])

    @property
    def part(self) -> str:
        """`key` or `value`."""
        return "key" if self.is_key else "value"

    @cached_property
    def registry(self) -> Registry:
        """The registry; its responses are cached as long as this converter lives."""
        return Registry(self._settings)

    @property
    def renew_at(self) -> float:
        """The time at which the cached newest versions expire (latest.cache.ttl.sec), of time.monotonic."""
        return self._newest.renew_at

    @abstractmethod
    def reading(self, schema: RegisteredSchema, version: int | None, indexes: Sequence[int]) -> Reading:
        """How data of a schema of the registry is read. version: of the schema; indexes: of the message. Raises DataError."""

    @abstractmethod
    def read_payload(self, context: CompileContext, payload: Sql, reading: Reading) -> Value:
        """Connect data from the bytes after the id."""

    @abstractmethod
    def registry_schema(self, schema: Schema | None) -> tuple[str, str | None]:
        """The text of the registry's schema for a Connect schema, and the full name of a record. Raises DataError."""

    @abstractmethod
    def writing(self, schema: Schema | None, registered: RegisteredSchema) -> Writing:
        """How the payload of a Connect schema is written with a schema of the registry. Raises DataError."""

    def unreadable(self, registered: RegisteredSchema, text: str) -> list[str]:
        """Why a schema of the registry cannot read data that was written with another one; empty if it can, or if `writing`
        checks that.
        """
        return []

    def misfits(self, registered: RegisteredSchema, schema: Schema) -> list[str]:
        """The same for data of a Connect schema, whatever is null in it."""
        return []

    def never_null(self, registered: RegisteredSchema) -> list[tuple[str, ...]]:
        """The paths of fields that a schema of the registry requires, if `writing` does not check that they are not null."""
        return []

    @property
    def replaces_null(self) -> bool:
        """Whether a field's default is written for null."""
        return not self.ignore_default_for_nullables

    def schema_in(self, source: Sql, known_texts: Sequence[str]) -> Sql | None:
        """The id, or GUID, of the schema, if it is not known."""
        return self._opened(source, known_texts) + ".schema"

    def look_up(self, texts: Iterable[str], topic: str | None = None) -> None:
        """Fetch schemas. Raises RegistryUnavailableError, InvalidResponseError, and ConnectError for a refused login."""
        for text in texts:
            if isinstance(known := self._known(text), _RegisteredReading):
                entry = known.entry(self.part, topic)
                self.uses.add("read", self.part, known.id, self.type, entry, known.reading.schema, topic)

    def read(self, context: CompileContext, source: Sql, schemas: Sequence[str] = ()) -> Value:
        """Data with the schema of its id; NULL is null."""
        source = context.scope.bind(source)
        opened = context.scope.bind(f"CASE WHEN {source} IS NOT NULL THEN {self._opened(source, schemas)} END")
        self._unread(context, f"({opened}.error IS NOT NULL)", f"{opened}.error")
        context.fail(f"({opened}.schema IS NOT NULL)", concat(lit("Schema not fetched yet: "), f"{opened}.schema"))
        cases = [Case(f"({source} IS NULL)", NULL)]
        for index, text in enumerate(schemas):
            when = f"({opened}.id <=> {index})"
            if isinstance(known := self._known(text), str):
                self._unread(context, when, lit(known))
                continue
            with context.where(when):
                payload = f"{opened}.payload" if len(schemas) == 1 else case([(when, f"{opened}.payload")])
                cases += only_when(when, self.read_payload(context, payload, known.reading))
        return combined(cases)

    def _opened(self, source: Sql, known_texts: Sequence[str]) -> Sql:
        # a call with a NULL argument returns NULL
        headers = f"coalesce(in_headers, cast(array() as {HEADERS_TYPE}))"
        constants = [schema_id_header(self.part), "indexed" if self.indexed else "", *known_texts]
        return call("headrace_registry_open", source, headers, lit("\0".join(constants)))

    def _unread(self, context: CompileContext, when: Sql, cause: Sql) -> None:
        context.fail(when, _with_topic(self.problems[0], "in_topic"), cause=cause)

    def unread(self, context: CompileContext, error: Sql) -> None:
        """Report the error of a reader, NULL for none, as a fault of data that cannot be read."""
        self._unread(context, f"({error} IS NOT NULL)", error)

    def _known(self, text: str) -> _RegisteredReading | str:
        """How data of a schema is read, or why it cannot be. text: as of `_registered`. Raises what `look_up` does."""
        if (cause := self._failed.cause(text)) is not None:
            return cause
        try:
            return self._registered(text)
        except (RegistryError, DataError) as error:
            return self._failed.add(text, error)

    def _registered(self, text: str) -> _RegisteredReading:
        """How data of a schema is read. text: its id, or GUID; after a colon the indexes of the message."""
        registry = self.registry
        id, _, indexes = text.partition(":")
        schema = registry.schema(id if len(id) == _GUID_LENGTH else int(id))
        if schema.type != self.type:
            raise DataError(f"The schema with the id {id} is of type {schema.type}, not {self.type}")
        try:
            entries = registry.subject_versions(schema.id)
        except (RegistryError, InvalidResponseError):  # not supported by older registries, nor for deleted subjects
            entries = []
        versions = {entry.version for entry in entries}
        version = versions.pop() if len(versions) == 1 else None
        path = [int(index) for index in indexes.split(",")] if indexes else [0]
        with schema_faults(f"The {self.format} schema with the id {id} cannot be used"):
            reading = self.reading(schema, version, path)
            require_sound(reading.schema)
        return _RegisteredReading(schema.id, reading, entries)

    def registered(
        self, data: bytes | None, topic: str, headers: Sequence[tuple[str, bytes | None]] = ()
    ) -> dict[str, Any] | None:
        """The registered schema of a record's data (`schema_of_record`)."""
        return schema_of_record(self.registry, self.part, data, topic, headers)

    def write(self, context: CompileContext, value: Value) -> Sql:
        """The schema's id and the data; a schema without a known id is requested (`CompileContext.request_schema`)."""
        writer = JsonWriter(context, self.replaces_null, requires=not self.leaves_out_null)
        payloads: list[tuple[Sql | None, Sql]] = []
        texts: list[tuple[Sql | None, Sql]] = []
        for a in value:
            if a.value.kind == "null" and a.value.schema is None:
                continue
            payloads.append((a.when, writer.typed(a.value, a.when)))
            texts.append((a.when, self._schema_text(a.value)))
        if not payloads:
            return "cast(NULL as binary)"
        payload, text = f"string({case(payloads)})", f"string({case(texts)})"
        if context.reached_when is not None:
            payload = f"CASE WHEN {context.reached_when} THEN {payload} END"

        def learned_targets() -> str:
            schemas = [{"schema": s, "topics": list(topics.values())} for s, topics in self._targets_of(value).items()]
            return json.dumps({"format": self.format, "part": self.part, "schemas": schemas})

        written = context.scope.bind(call("headrace_registry_write", payload, text, context.topic, lit(learned_targets())))
        context.request_schema(self.part, f"{written}.wanted", learned_targets)
        context.fail(f"({written}.error IS NOT NULL)", _with_topic(self.problems[1], context.topic), cause=f"{written}.error")
        context.fail(f"({written}.wanted IS NOT NULL)", lit("The schema of the record was not registered before it was written"))
        return f"{written}.value"

    def _targets_of(self, value: Value) -> dict[str, dict[str, dict[str, Any]]]:
        """The targets of the schemas that a value can have; all known targets, if the schema depends on the record."""
        schemas = [_schema_of(a.value) for a in value]
        depends = any(a.value.opened is not None and schema is None for a, schema in zip(value, schemas, strict=True))
        if depends:
            return self._targets
        texts = {"null" if schema is None else schema.text() for schema in schemas}
        return {text: topics for text, topics in self._targets.items() if text in texts}

    def schema_of(self, text: str | None, subject: str) -> Schema | None:
        """The Connect schema for data with a schema of the registry: of this text, or the newest of a subject.

        None: schemaless data. Raises RegistryError, RegistryUnavailableError, InvalidResponseError, DataError.
        """
        schema = self._newest.get(self.registry, subject) if text is None else RegisteredSchema(0, self.type, text)
        with schema_faults(f"The {self.format} schema of {subject or 'the serde'} cannot be used", of_data=False):
            return self.reading(schema, None, [0]).schema

    def id_of(self, text: str | None, subject: str, topic: str) -> int:
        """The id of the newest schema of a subject, or of a text under the subject of a topic, which may be registered.

        Raises RegistryError, RegistryUnavailableError, InvalidResponseError, DataError.
        """
        if text is None:
            return self._newest.get(self.registry, subject).id
        record_name = None
        if self._strategy != "TopicNameStrategy":
            record_name = self.registry_schema(self.schema_of(text, subject))[1]
        subject, normalize = subject_of(self._strategy, topic, self.is_key, record_name), self.normalize_schemas
        register_or_lookup = self.registry.register if self.auto_register_schemas else self.registry.lookup
        return register_or_lookup(subject, text, self.type, normalize)

    def learn_value(self, value: Value, topic: str) -> None:
        """Resolve the schemas of values of a topic in advance, where they do not depend on the records.

        Raises what `learn` does; DataError if the values cannot be written.
        """
        schemas = list(dict.fromkeys(schema.text() for a in value if (schema := _schema_of(a.value)) is not None))
        self.learn([json.dumps({"topic": topic, "schema": text}) for text in schemas])
        for text in schemas:
            if error := self._targets[text][topic].get("error"):
                raise DataError(error.partition(": ")[2])

    def _schema_text(self, typed: TypedValue) -> Sql:
        schema = _schema_of(typed)
        if schema is not None:
            self._schemas[schema.text()] = schema
        return schema_text(typed)

    def learn(self, requests: Iterable[str], register: bool = True) -> None:
        """Resolve the ids of the schemas that `write` has requested; a schema that the registry refuses fails its records.

        requests: JSON with `topic` and `schema`; register: new schemas may be registered, else they have the id 0. Raises
        RegistryUnavailableError, InvalidResponseError, and ConnectError if the registry refuses the login.
        """
        parsed_requests = [json.loads(request) for request in requests]
        for request in parsed_requests:
            topic, text = request["topic"], request["schema"]
            by_topic = self._targets[text] = self._targets.pop(text, {})
            try:
                with schema_faults(f"The schema of the data cannot be written as {self.format}", of_data=False):
                    schema = folded(self._schemas[text] if text in self._schemas else parse(text))
                    require_scales(schema)
                    by_topic[topic] = {"topic": topic, **self._target(schema, topic, register)}
            except (RegistryError, DataError) as error:
                if isinstance(error, RegistryError) and error.refuses_login:
                    raise
                by_topic[topic] = {"topic": topic, "error": f"{error.java_class}: {error}"}
        for text in list(self._targets)[: -_MAX_TARGETS - len(parsed_requests)]:  # never those of these requests
            del self._targets[text]
            self._schemas.pop(text, None)

    def renew(self) -> bool:
        """Renew the newest versions if they have expired, and retry schemas that the registry has refused."""
        if time.monotonic() < self._newest.renew_at:
            return False
        changed = self._is_stale = self._newest.renew(self.registry) or self._is_stale
        targets = [(text, topic, target) for text, topics in self._targets.items() for topic, target in topics.items()]
        outdated = [{"topic": topic, "schema": text} for text, topic, target in targets if changed or "error" in target]
        self.learn(map(json.dumps, outdated))
        self._is_stale = False
        return bool(outdated)

    def _target(self, schema: Schema | None, topic: str, register: bool) -> dict[str, Any]:
        """The id of a schema under the subject of a topic, and the plan to write with it."""
        text, record_name = self.registry_schema(schema)
        subject = subject_of(self._strategy, topic, self.is_key, record_name)
        registry = self.registry
        if self.auto_register_schemas:
            target = RegisteredSchema(self._auto_register(subject, text, register), self.type, text)
        elif self.use_schema_id >= 0:
            target = registry.schema(self.use_schema_id)
            if self.id_compatibility_strict:
                self._check(target, text, f"with the id {target.id}", "id.compatibility.strict")
        elif self.use_latest_version:
            target = self._newest.get(registry, subject)
            if self.latest_compatibility_strict:
                self._check(target, text, f"the newest of subject {subject}", "latest.compatibility.strict")
        else:
            target = RegisteredSchema(registry.lookup(subject, text, self.type, self.normalize_schemas), self.type, text)
        writing = self.writing(schema, target)
        if register:
            entry = subject, registry.version_in(subject, target.id)
            self.uses.add("written", self.part, target.id, self.type, entry, schema, topic)
        return {"id": target.id, "plan": writing.plan, "prefix": base64.b64encode(writing.prefix).decode()}

    def _check(self, target: RegisteredSchema, text: str, description: str, option: str) -> None:
        """Raise DataError if the target schema cannot read data that is written with the schema `text`."""
        if problems := "; ".join(self.unreadable(target, text)):
            to_disable = f"Set {option}=false to disable this check"
            raise DataError(f"Incompatible schema {target.text}, {description}, for schema {text}: {problems}. {to_disable}")

    def _auto_register(self, subject: str, text: str, register: bool) -> int:
        if register:
            return self.registry.register(subject, text, self.type, self.normalize_schemas)
        try:
            return self.registry.lookup(subject, text, self.type, self.normalize_schemas)
        except RegistryError as error:
            if not error.is_missing:
                raise
            return 0


def _schema_of(typed: TypedValue) -> Schema | None:
    """The schema of a value, None if it has none, or if its schema depends on the record."""
    return typed.opened.struct_schema() if typed.opened is not None else typed.schema


def _with_topic(problem: str, topic: Sql) -> Sql:
    before, after = problem.split("{}")
    return concat(lit(before), topic, lit(after))
