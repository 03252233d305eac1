"""Each option of the converters with a registry, by its name in a configuration: what it changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

from headrace.converters.base import load, load_header
from headrace.errors import ConfigError, DataError
from headrace.registry.client import RegisteredSchema
from headrace.registry.unsupported_options import FIXED, IGNORED
from headrace.registry.usage import SchemaUse
from headrace.testing.registry import SchemaRegistry
from headrace.values.schema import DECIMAL, Schema
from headrace.values.value import TypedValue, Value, always

AVRO = "io.confluent.connect.avro.AvroConverter"
PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"
JSON_SCHEMA = "io.confluent.connect.json.JsonSchemaConverter"
TYPES = {AVRO: "AVRO", PROTOBUF: "PROTOBUF", JSON_SCHEMA: "JSON"}
AWAY = "http://127.0.0.1:1"


def made(name: str, url: str = AWAY, **settings: str) -> Any:
    """A converter for values; settings: with `_` for `.`."""
    options = {key.replace("_", "."): value for key, value in settings.items()}
    return load(name, {"schema.registry.url": url, "max.retries": "0", **options}, is_key=False)


def read(schema: Any) -> Callable[[Any], Any]:
    """What a schema of the registry is in Connect."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return lambda converter: converter.reading(RegisteredSchema(1, converter.type, text), None, [0]).schema


def plan(text: str) -> Callable[[Any], Any]:
    return lambda converter: converter.reading(RegisteredSchema(1, converter.type, text), None, [0]).plan


def text(schema: Schema) -> Callable[[Any], Any]:
    return lambda converter: converter.registry_schema(schema)[0]


def node(schema: Schema) -> Callable[[Any], Any]:
    return lambda converter: json.loads(converter.registry_schema(schema)[0])


@dataclass(frozen=True)
class Effect:
    """What shows of an option: by default, and with a value."""

    converter: str
    option: str
    value: str
    show: Callable[[Any], Any]
    default: Any
    changed: Any

    def __str__(self) -> str:
        return f"{TYPES[self.converter]}-{self.option}"


ENUM = {"type": "enum", "name": "Size", "symbols": ["S", "L"]}
RECORD = {"type": "record", "name": "R", "doc": "of R", "fields": []}
PARAMETERS = {"io.confluent.connect.avro.Enum": "Size", "io.confluent.connect.avro.Enum.S": "S"}
ODD = Schema("struct", name="R", fields={"a-b": Schema("int32")})
PROTO = """syntax = "proto3"; package shop; import "google/protobuf/wrappers.proto";
message Order { Size size = 1; google.protobuf.StringValue nick = 2; oneof pay { string card = 3; } Order part = 4;
  enum Size { S = 0; } }"""
PROTO2 = "message R { optional int32 a = 1; }"
OPTIONAL = Schema("struct", name="R", fields={"a": Schema("int64", optional=True)})
PRICE = Schema("bytes", name=DECIMAL, version=1, parameters={"scale": "2"})
GENERAL = "org.apache.kafka.connect.data.Enum"


def field(name: str, *path: str) -> Callable[[Any], Any]:
    """An attribute of a field of the message."""

    def show(converter: Any) -> Any:
        result = read(PROTO)(converter).fields[name]
        for part in path:
            result = getattr(result, part)
        return result

    return show


EFFECTS = [
    Effect(AVRO, "enhanced.avro.schema.support", "true",
           lambda converter: node(Schema("string", parameters=PARAMETERS))(converter)["type"],
           "string", "enum"),
    Effect(AVRO, "connect.meta.data", "false", node(Schema("int8", doc="d")),
           {"type": "int", "connect.doc": "d", "connect.type": "int8"}, "int"),
    Effect(AVRO, "scrub.invalid.names", "true", lambda converter: node(ODD)(converter)["fields"][0]["name"], "a-b", "a_b"),
    Effect(AVRO, "allow.optional.map.keys", "true",
           lambda converter: node(Schema("map", keys=Schema("string", True), values=Schema("int32")))(converter)["type"],
           "array", "map"),
    Effect(AVRO, "flatten.singleton.unions", "false", lambda converter: read(["string"])(converter).type, "string", "struct"),
    Effect(AVRO, "discard.type.doc.default", "true", lambda converter: list(read(RECORD)(converter).parameters),
           ["io.confluent.connect.avro.record.doc"], ["connect.record.doc"]),
    Effect(AVRO, "generalized.sum.type.support", "true", lambda converter: next(iter(read(ENUM)(converter).parameters)),
           "io.confluent.connect.avro.Enum", GENERAL),
    Effect(AVRO, "schemas.cache.config", "5", lambda converter: converter["schemas.cache.config"], 1000, 5),
    Effect(PROTOBUF, "enhanced.protobuf.schema.support", "true",
           lambda converter: read(PROTO)(converter).name, "Order", "shop.Order"),
    Effect(PROTOBUF, "scrub.invalid.names", "true", lambda converter: " a_b = 1;" in text(ODD)(converter), False, True),
    Effect(PROTOBUF, "int.for.enums", "true", field("size", "type"), "string", "int32"),
    Effect(PROTOBUF, "optional.for.nullables", "true",
           lambda converter: "optional int64 a" in text(OPTIONAL)(converter), False, True),
    Effect(PROTOBUF, "optional.for.proto2", "false", lambda converter: plan(PROTO2)(converter)["f"][0]["p"], True, False),
    Effect(PROTOBUF, "wrapper.for.nullables", "true", lambda converter: "Int64Value a" in text(OPTIONAL)(converter), False, True),
    Effect(PROTOBUF, "wrapper.for.raw.primitives", "false", field("nick", "type"), "string", "struct"),
    Effect(PROTOBUF, "generate.struct.for.nulls", "true", lambda converter: plan(PROTO)(converter)["f"][2]["z"], False, True),
    Effect(PROTOBUF, "generate.index.for.unions", "false",
           lambda converter: next(iter(read(PROTO)(converter).fields)), "pay_0", "pay"),
    Effect(PROTOBUF, "flatten.unions", "true", lambda converter: next(iter(read(PROTO)(converter).fields)), "pay_0", "card"),
    Effect(PROTOBUF, "generalized.sum.type.support", "true", lambda converter: next(iter(field("size", "parameters")(converter))),
           "io.confluent.connect.protobuf.Enum", GENERAL),
    Effect(PROTOBUF, "schemas.cache.config", "5", lambda converter: converter["schemas.cache.config"], 1000, 5),
    Effect(JSON_SCHEMA, "object.additional.properties", "false",
           lambda converter: node(ODD)(converter).get("additionalProperties"),
           None, False),
    Effect(JSON_SCHEMA, "use.optional.for.nonrequired", "true",
           lambda converter: read({"type": "object",
           "properties": {"a": {"type": "string"}}})(converter).fields["a"].optional, False, True),
    Effect(JSON_SCHEMA, "decimal.format", "NUMERIC", lambda converter: node(PRICE)(converter)["type"], "string", "number"),
    Effect(JSON_SCHEMA, "flatten.singleton.unions", "false",
           lambda converter: read({"oneOf": [{"type": "string"}]})(converter).type,
           "string", "struct"),
    Effect(JSON_SCHEMA, "generalized.sum.type.support", "true",
           lambda converter: next(iter(read({"type": "string", "enum": ["S"]})(converter).parameters)),
           "io.confluent.connect.json.Enum", GENERAL),
    Effect(JSON_SCHEMA, "schemas.cache.size", "5", lambda converter: converter["schemas.cache.size"], 1000, 5),
    *(Effect(name, "ignore.default.for.nullables", "true",
           lambda converter: converter.replaces_null, True, False) for name in TYPES),
    *(Effect(name, "latest.cache.size", "5", lambda converter: converter["latest.cache.size"], 1000, 5) for name in TYPES),
]  # fmt: skip


@pytest.mark.parametrize("effect", EFFECTS, ids=str)
def test_an_option_changes_what_it_is_for(effect: Effect) -> None:
    assert effect.show(made(effect.converter)) == effect.default
    assert (
        effect.show(load(effect.converter, {"schema.registry.url": AWAY, effect.option: effect.value}, False)) == effect.changed
    )


@pytest.mark.parametrize(("converter", "option", "value", "why"), [
    (AVRO, "auto.register.schemas", "perhaps", "Expected value to be either true or false"),
    (AVRO, "max.schemas.per.subject", "many", "Not a number of type INT"),
    (AVRO, "max.retries", "-1", "Value must be at least 0"),
    (AVRO, "value.subject.name.strategy", "com.example.Mine", "io.confluent.kafka.serializers.subject.RecordNameStrategy, "),
    (AVRO, "context.name.strategy", "com.example.Mine", "there is io.confluent.kafka.serializers.context.Null"),
    (AVRO, "basic.auth.credentials.source", "FILE", "it has to be URL, USER_INFO or SASL_INHERIT"),
    (AVRO, "bearer.auth.credentials.source", "FILE", "it has to be STATIC_TOKEN (bearer.auth.token) or OAUTHBEARER (client"),
    (AVRO, "bearer.auth.credentials.source", "SASL_OAUTHBEARER_INHERIT", "SASL_OAUTHBEARER_INHERIT and CUSTOM are not supported"),
    (AVRO, "schema.registry.url", " ", "schema.registry.url"),
    (AVRO, "schema.registry.url", "localhost:8081", "it has to begin with http:// or https://"),
    (AVRO, "value.schema.id.serializer", "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer",
     "the id of the schema is written before the data, and never into a header; the only value is io.confluent.kafka"),
    (AVRO, "value.schema.id.deserializer", "io.confluent.kafka.serializers.schema.id.PrefixSchemaIdDeserializer", "header first"),
    (PROTOBUF, "use.latest.with.metadata", "application.version=1", "a version is not chosen by its metadata"),
    (PROTOBUF, "skip.known.types", "false", "are known, and not registered; the only value is true"),
    (JSON_SCHEMA, "schema.format", "resolved", "schemas are registered and requested unchanged"),
    (JSON_SCHEMA, "decimal.format", "HEX", "it has to be BASE64 or NUMERIC"),
    (JSON_SCHEMA, "preserve.additional.properties", "true", "Connect data here has no variants"),
])  # fmt: skip
def test_a_value_that_cannot_be_is_refused_with_a_sentence(converter: str, option: str, value: str, why: str) -> None:
    with pytest.raises(ConfigError, match=option) as refused:
        load(converter, {"schema.registry.url": AWAY, option: value}, is_key=False).check()
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def struct(*names: str, name: str = "R") -> Value:
    return always(TypedValue("struct", schema=Schema("struct", name=name, fields={n: Schema("int32", True) for n in names})))


def written(converter: Any) -> list[tuple[int, str | None]]:
    """Ids and subjects that a converter has written."""
    uses: list[SchemaUse] = converter.uses.all()
    return [(use.id, use.subject) for use in uses if use.direction == "written"]


@pytest.mark.parametrize("name", TYPES)
def test_headers_have_no_schemas_in_a_registry(name: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid value {name} for configuration header.converter"):
        load_header(name, {"schema.registry.url": AWAY})


@pytest.mark.parametrize("name", TYPES)
def test_schemas_are_registered_unless_that_is_switched_off(registry: SchemaRegistry, name: str) -> None:
    with pytest.raises(DataError, match=r"404.*Subject 'orders-value' not found"):
        made(name, registry.url, auto_register_schemas="false").learn_value(struct("a"), "orders")
    made(name, registry.url).learn_value(struct("a"), "orders")
    registered_converter = made(name, registry.url, auto_register_schemas="false")
    registered_converter.learn_value(struct("a"), "orders")
    assert written(registered_converter) == [(1, "orders-value")]


@pytest.mark.parametrize("name", TYPES)
def test_another_schema_than_the_datas_can_be_written_with(registry: SchemaRegistry, name: str) -> None:
    registry.store.levels[None] = "NONE"
    made(name, registry.url).learn_value(struct("a"), "orders")
    made(name, registry.url).learn_value(struct("a", "b"), "orders")
    off = {"auto_register_schemas": "false"}
    by_id = made(name, registry.url, **off, use_schema_id="1")
    by_id.learn_value(struct("a"), "elsewhere")
    newest = made(name, registry.url, **off, use_latest_version="true", latest_compatibility_strict="false")
    newest.learn_value(struct("a", "b"), "orders")
    assert (written(by_id), written(newest)) == ([(1, "elsewhere-value")], [(2, "orders-value")])


LATEST = {"auto_register_schemas": "false", "use_latest_version": "true"}
LOOSE = {**LATEST, "latest_compatibility_strict": "false"}


def avro(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)}


def test_the_newest_schema_has_to_read_the_data_unless_that_does_not_matter(registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"  # what the subject takes as its next version has no part in it
    required, optional = {"name": "a", "type": "int"}, {"name": "a", "type": ["null", "int"], "default": None}
    registry.register("orders-value", avro(required))
    data = always(TypedValue("struct", schema=Schema("struct", name="R", fields={"a": Schema("int32", optional=True)})))
    with pytest.raises(
        DataError, match=r"Incompatible schema .*, the newest of subject orders-value, for schema .*TYPE_MISMATCH"
    ):
        made(AVRO, registry.url, **LATEST).learn_value(data, "orders")
    made(AVRO, registry.url, **LOOSE).learn_value(data, "orders")
    registry.register("others-value", avro(optional))
    narrow = always(TypedValue("struct", schema=Schema("struct", name="R", fields={"a": Schema("int32")})))
    made(AVRO, registry.url, **LATEST).learn_value(narrow, "others")
    with pytest.raises(DataError, match=r"Incompatible schema .* READER_FIELD_MISSING_DEFAULT_VALUE at /fields/0: a"):
        made(AVRO, registry.url, **LATEST).learn_value(struct(), "orders")


@pytest.mark.parametrize("name", [AVRO, PROTOBUF])
def test_the_newest_schema_needs_a_place_for_what_is_in_the_data(registry: SchemaRegistry, name: str) -> None:
    made(name, registry.url).learn_value(struct("a"), "orders")
    for settings in (LATEST, LOOSE):
        with pytest.raises(DataError, match=r"has no field b|Cannot find field with name b"):
            made(name, registry.url, **settings).learn_value(struct("a", "b"), "orders")


@pytest.mark.parametrize(("properties", "more", "why"), [
    ({"a": {"type": "integer"}}, {}, "null is no integer, which the registered schema has for the data.a"),
    ({"a": {"type": ["null", "string"]}}, {}, "the registered schema has string for the data.a, which is integer"),
    ({"a": {"type": ["null", "integer"]}, "b": {"type": "string"}}, {"required": ["b"]}, "requires b, which is not in the data"),
    ({"b": {"type": "string"}}, {"additionalProperties": False}, "the registered schema has no property a, which is in the data"),
    ({"a": {"type": ["null", "number"]}, "b": {"type": "string"}}, {}, None),
    ({"b": {"type": "string"}}, {}, None),
])  # fmt: skip
def test_json_has_to_be_valid_by_the_newest_schema_unless_that_does_not_matter(
    registry: SchemaRegistry, properties: dict[str, Any], more: dict[str, Any], why: str | None
) -> None:
    registry.register("orders-value", {"type": "object", "title": "R", "properties": properties, **more}, "JSON")
    made(JSON_SCHEMA, registry.url, **LOOSE).learn_value(struct("a"), "orders")
    if why is None:
        made(JSON_SCHEMA, registry.url, **LATEST).learn_value(struct("a"), "orders")
    else:
        with pytest.raises(DataError, match=r"Incompatible schema .*, the newest of subject orders-value") as refused:
            made(JSON_SCHEMA, registry.url, **LATEST).learn_value(struct("a"), "orders")
        assert why in str(refused.value)


@pytest.mark.parametrize(("format", "scale", "why"), [
    ("BASE64", "2", None), ("NUMERIC", "4", None),
    ("BASE64", "4", "has Decimal with the scale 2 for the data.price, which is Decimal with the scale 4"),
])  # fmt: skip
def test_a_decimal_of_json_needs_the_scale_of_the_newest_schema_unless_it_is_a_number(
    registry: SchemaRegistry, format: str, scale: str, why: str | None
) -> None:
    data = Schema("struct", name="R", fields={"price": PRICE})
    registry.register("orders-value", text(data)(made(JSON_SCHEMA, decimal_format=format)), "JSON")
    other = data.same_but(fields={"price": PRICE.same_but(parameters={"scale": scale})})
    writer = made(JSON_SCHEMA, registry.url, **LATEST, decimal_format=format)
    if why is None:
        writer.learn_value(always(TypedValue("struct", schema=other)), "orders")
    else:
        with pytest.raises(DataError, match=why):
            writer.learn_value(always(TypedValue("struct", schema=other)), "orders")


def test_json_that_contains_itself_has_to_be_valid_by_the_newest_schema(registry: SchemaRegistry) -> None:
    def tree(kind: str) -> dict[str, Any]:
        children = {"type": "array", "items": {"$ref": "#"}, "connect.index": 1}
        return {"type": "object", "title": "R", "properties": {"a": {"type": kind, "connect.index": 0}, "c": children}}

    registry.register("orders-value", tree("integer"), "JSON")
    for kind, why in (("integer", None), ("string", "has integer for the data.a, which is string")):
        data = always(TypedValue("struct", schema=read(tree(kind))(made(JSON_SCHEMA))))
        if why is None:
            made(JSON_SCHEMA, registry.url, **LATEST).learn_value(data, "orders")
        else:
            with pytest.raises(DataError, match=why):
                made(JSON_SCHEMA, registry.url, **LATEST).learn_value(data, "orders")


def newest(converter: Any) -> int:
    """The id that data with a schema that is known is written with."""
    [targets] = converter._targets.values()
    return targets["orders"]["id"]


def test_the_newest_schema_is_asked_for_again_once_the_answer_is_old(registry: SchemaRegistry) -> None:
    registry.store.levels[None] = "NONE"
    made(AVRO, registry.url).learn_value(struct("a"), "orders")
    forever, never = made(AVRO, registry.url, **LOOSE), made(AVRO, registry.url, **LOOSE, latest_cache_ttl_sec="0")
    for converter in (forever, never):
        converter.learn_value(struct("a"), "orders")
        assert not converter.renew()
    made(AVRO, registry.url).learn_value(struct("a", "b"), "orders")
    assert (forever.renew(), never.renew()) == (False, True)
    assert (newest(forever), newest(never)) == (1, 2)
    restarted = made(AVRO, registry.url, **LOOSE)
    restarted.learn_value(struct("a"), "orders")
    assert newest(restarted) == 2
    registry.stop()
    assert not never.renew()  # what is known holds on
    assert newest(never) == 2


def test_what_the_newest_schema_was_refused_for_is_looked_at_again(registry: SchemaRegistry) -> None:
    registered_converter = made(AVRO, registry.url, **LATEST, latest_cache_ttl_sec="0")
    with pytest.raises(DataError, match=r"404.*Subject 'orders-value' not found"):
        registered_converter.learn_value(struct("a"), "orders")
    made(AVRO, registry.url).learn_value(struct("a"), "orders")
    assert registered_converter.renew()
    assert newest(registered_converter) == 1


def test_schemas_that_mean_the_same_have_one_id_if_they_are_normalized(registry: SchemaRegistry) -> None:
    reordered = '{"connect.name":"R","fields":[{"default":null,"name":"a","type":["null","int"]}],"name":"R","type":"record"}'
    id = made(AVRO, registry.url).registry.register("orders-value", reordered, "AVRO", True)
    made(AVRO, registry.url, normalize_schemas="true").learn_value(struct("a"), "orders")
    assert [version.schema.id for version in registry.store.subjects["orders-value"]] == [id]
    made(AVRO, registry.url).learn_value(struct("a"), "orders")
    assert len(registry.store.subjects["orders-value"]) == 2


def test_a_subject_may_have_more_schemas_than_are_cached(registry: SchemaRegistry) -> None:
    registered_converter = made(AVRO, registry.url, max_schemas_per_subject="1")
    registered_converter.learn_value(struct("a"), "orders")
    registered_converter.learn_value(struct("a", "b"), "orders")
    assert len(registry.store.subjects["orders-value"]) == 2


@pytest.mark.parametrize(("strategy", "subject"), [
    ("TopicNameStrategy", "orders-value"), ("RecordNameStrategy", "a.R"), ("TopicRecordNameStrategy", "orders-a.R"),
])  # fmt: skip
@pytest.mark.parametrize("name", TYPES)
def test_subjects_are_named_by_the_strategy(registry: SchemaRegistry, name: str, strategy: str, subject: str) -> None:
    full = "io.confluent.kafka.serializers.subject." + strategy
    registered_converter = made(
        name, registry.url, value_subject_name_strategy=full, key_subject_name_strategy="unknown to values"
    )
    registered_converter.learn_value(struct("a", name="a.R"), "orders")
    assert list(registry.store.subjects) == [subject]


def of_converters(logs: Iterable[MutableMapping[str, Any]]) -> list[MutableMapping[str, Any]]:
    """Those of other threads are left out: of the session's worker, where another test has started it."""
    return [log for log in logs if log["event"].startswith("converter.")]


@pytest.mark.parametrize("name", TYPES)
def test_options_with_one_value_may_be_set_to_it(name: str) -> None:
    with structlog.testing.capture_logs() as logs:
        load(name, {"schema.registry.url": AWAY, **{option: fixed.value for option, fixed in FIXED.items()}}, is_key=False)
    assert not of_converters(logs)


# all that the configurations of Confluent's converters and of their serializers declare, without schema.registry.ssl.* and
# request.header.*
CONFLUENTS = """
schema.registry.url max.schemas.per.subject normalize.schemas auto.register.schemas propagate.schema.tags use.schema.id
id.compatibility.strict use.latest.version latest.compatibility.strict latest.cache.size latest.cache.ttl.sec
use.latest.with.metadata schema.format rule.executors rule.actions rule.service.loader.enable basic.auth.credentials.source
bearer.auth.credentials.source schema.registry.basic.auth.user.info basic.auth.user.info bearer.auth.token
bearer.auth.issuer.endpoint.url bearer.auth.client.id bearer.auth.client.secret bearer.auth.scope bearer.auth.scope.claim.name
bearer.auth.sub.claim.name bearer.auth.identity.pool.id bearer.auth.logical.cluster bearer.auth.cache.expiry.buffer.seconds
bearer.auth.custom.provider.class context.name.strategy key.subject.name.strategy key.schema.id.serializer
key.schema.id.deserializer value.subject.name.strategy value.schema.id.serializer value.schema.id.deserializer schema.reflection
proxy.host proxy.port http.connect.timeout.ms http.read.timeout.ms max.retries retries.wait.ms retries.max.wait.ms
avro.use.logical.type.converters avro.reflection.allow.null avro.remove.java.properties skip.known.types reference.lookup.only
reference.subject.name.strategy json.fail.invalid.schema json.fail.unknown.properties json.indent.output
json.write.dates.iso8601 json.schema.spec.version json.oneof.for.nullables json.default.property.inclusion
ignore.modern.dialects url.randomize schema.registry.url.randomize bearer.auth.uami.endpoint.url bearer.auth.uami.endpoint.query
missing.cache.size missing.id.cache.ttl.sec missing.version.cache.ttl.sec missing.schema.cache.ttl.sec validation.rules.execution
validation.rules.executor.class validation.rules.fail.fast
"""


def test_every_option_of_confluents_is_honoured_refused_or_ignored_with_a_warning() -> None:
    declared = {option for name in TYPES for option in type(made(name)).definition().names}
    with structlog.testing.capture_logs() as logs:
        given = dict.fromkeys(set(CONFLUENTS.split()) - declared - FIXED.keys(), "on")
        load(AVRO, {**given, "schema.registry.url": AWAY}, is_key=False)
    assert of_converters(logs)[0]["options"].split(", ") == sorted(given)
    assert given.keys() >= IGNORED and not declared & (IGNORED | FIXED.keys())


def test_the_documentation_has_the_options_that_are_not_honoured() -> None:
    text = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
    table = text.partition("## Options that are not honoured")[2].partition("\n## ")[0]
    named = {name for row in table.splitlines() if row.startswith("|") for name in re.findall(r"`([\w.*-]+)`", row.split("|")[1])}
    assert named == {*FIXED, *IGNORED, "rule.*", "context.name.strategy", "key.subject.name.strategy",
                     "value.subject.name.strategy", "bearer.auth.credentials.source", "preserve.additional.properties",
                     "latest.cache.size", "max.schemas.per.subject", "schemas.cache.config", "schemas.cache.size"}  # fmt: skip


def test_the_schema_of_an_id_has_to_read_the_data_unless_that_does_not_matter(registry: SchemaRegistry) -> None:
    registry.register("orders-value", avro({"name": "a", "type": ["null", "int"], "default": None}, {"name": "b", "type": "int"}))
    by_id = {"auto_register_schemas": "false", "use_schema_id": "1"}
    with pytest.raises(DataError, match=r"Incompatible schema .*, with the id 1, for schema .*Set id.compatibility.strict=false"):
        made(AVRO, registry.url, **by_id).learn_value(struct("a"), "orders")
    registry.register("others-value", avro({"name": "a", "type": ["null", "int"], "default": None}))
    other = made(AVRO, registry.url, **{**by_id, "use_schema_id": "2"})
    other.learn_value(struct("a"), "orders")
    assert written(other) == [(2, "orders-value")]


def test_what_is_not_there_is_ignored_with_a_warning() -> None:
    with structlog.testing.capture_logs() as logs:
        made(AVRO, rule_executors="one", rule_service_loader_enable="true")
        made(JSON_SCHEMA, json_fail_invalid_schema="true")
        made(JSON_SCHEMA, json_fail_invalid_schema="false")
    assert [(log["event"], log["options"], log["log_level"]) for log in of_converters(logs)] == [
        ("converter.options.ignored", "rule.executors, rule.service.loader.enable", "warning"),
        ("converter.options.ignored", "json.fail.invalid.schema", "warning"),
    ]


def test_every_option_has_a_test() -> None:
    here = Path(__file__).parent
    tests = "".join(here.joinpath(name).read_text() for name in ("test_options.py", "test_http_options.py", "test_client.py"))
    declared = {name for converter in TYPES for name in type(made(converter)).definition().names}
    without = {name for name in declared - {"converter.type"} if name not in tests and name.replace(".", "_") not in tests}
    assert not without
