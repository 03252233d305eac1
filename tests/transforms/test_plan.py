"""What Spark makes of a chain: one pass of generated code, without Python, that grows linearly with the chain."""

import json
import time

import pytest

from headrace.errors import ConfigError
from headrace.values.scope import FilterLayer, JsonReader
from tests.transforms.chains import Record, compiled, config, frame, through

PREDICATES = {
    "eu": {"type": "TopicNameMatches", "pattern": "eu-.*"},
    "tomb": {"type": "RecordIsTombstone"},
    "marked": {"type": "HasHeaderKey", "name": "h"},
}
ALL = (
    {"type": "ReplaceField$Value", "exclude": "junk", "renames": "n:name"},
    {"type": "Cast$Value", "spec": "a:int32", "predicate": "eu"},
    {"type": "MaskField$Value", "fields": "name", "predicate": "tomb", "negate": "true"},
    {
        "type": "InsertField$Value",
        "static.field": "s",
        "static.value": "x",
        "topic.field": "t",
        "predicate": "eu",
        "negate": "true",
    },
    {"type": "TimestampConverter$Value", "field": "at", "target.type": "string", "format": "yyyy-MM-dd"},
    {"type": "HeaderFrom$Value", "fields": "name", "headers": "h", "operation": "copy"},
    {"type": "InsertHeader", "header": "i", "value.literal": "7"},
    {"type": "DropHeaders", "headers": "i", "predicate": "marked"},
    {"type": "ValueToKey", "fields": "name,a"},
    {"type": "ExtractField$Key", "field": "name"},
    {"type": "HoistField$Key", "field": "id"},
    {"type": "HoistField$Value", "field": "outer"},
    {"type": "Flatten$Value"},
    {"type": "RegexRouter", "regex": "(.*)-in", "replacement": "$1-out"},
    {"type": "TimestampRouter", "topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyy"},
    {"type": "Filter", "predicate": "tomb"},
)
WITH_SCHEMA = (*ALL[:-1], {"type": "SetSchemaMetadata$Value", "schema.name": "com.acme.Order"}, ALL[-1])
SCHEMA = {
    "type": "struct", "optional": False,
    "fields": [
        {"type": "string", "optional": False, "field": "n"},
        {"type": "int64", "optional": True, "field": "a"},
        {"type": "int64", "optional": False, "name": "org.apache.kafka.connect.data.Timestamp", "version": 1, "field": "at"},
        {"type": "boolean", "optional": True, "field": "junk"},
    ],
}  # fmt: skip
PAYLOAD = {"n": "Ann", "a": 5, "at": 1_700_000_000_123, "junk": True}
ENVELOPE = json.dumps({"schema": SCHEMA, "payload": PAYLOAD}).encode()
PLAIN = json.dumps(PAYLOAD).encode()
ONE_PASS = {"WholeStageCodegenExec", "ProjectExec", "FilterExec", "RDDScanExec"}
"""The only nodes that there may be: anything else is a second pass, Python, or a step that Spark interprets."""


def executed(df):
    return df._jdf.queryExecution().executedPlan()


def nodes(plan):
    """The names of the plan's nodes, from the result down."""
    below = plan.children()
    return [plan.getClass().getSimpleName(), *(name for i in range(below.size()) for name in nodes(below.apply(i)))]


CHAINS = {"schemaless": (ALL, {}, PLAIN), "schema": (WITH_SCHEMA, {"value_converter_schemas_enable": "true"}, ENVELOPE)}


@pytest.fixture(params=CHAINS, ids=list(CHAINS))
def every(request, spark):
    """All built-in transforms and predicates, with and without schemas: properties, the schemas' texts, a record."""
    transforms, settings, value = CHAINS[request.param]
    schemas = {} if request.param == "schemaless" else {"value": [json.dumps(SCHEMA, separators=(", ", ": "))]}
    return config(*transforms, predicates=PREDICATES, **settings), schemas, Record(value, topic="eu-in", headers=(("h", b"1"),))


@pytest.mark.parametrize("show", [True, False], ids=["shown", "dropped"])
def test_a_chain_of_all_built_ins_is_one_pass_without_python(spark, every, show):
    props, schemas, record = every
    plan_nodes = nodes(executed(compiled(props, schemas, show).apply(frame(spark, [record]))))
    assert set(plan_nodes) <= ONE_PASS | {"InputAdapter"}
    assert plan_nodes.count("RDDScanExec") == 1


@pytest.mark.parametrize("stage", ALL, ids=lambda stage: stage["type"])
def test_a_built_in_is_part_of_one_generated_function(spark, stage):
    """Spark interprets the whole projection that has an expression without code in it, and ends the function there."""
    plan_nodes = nodes(executed(compiled(config(stage, predicates=PREDICATES)).apply(frame(spark, [Record(PLAIN)]))))
    assert set(plan_nodes) <= ONE_PASS
    assert (plan_nodes[0], plan_nodes.count("WholeStageCodegenExec")) == ("WholeStageCodegenExec", 1)


def test_a_chain_of_all_built_ins_gives_the_record_it_should(spark, every):
    props, _, record = every
    (after,) = through(spark, props, [record])
    assert isinstance(after, Record), after
    assert after.topic == "eu-out-2023"
    assert after.key and after.value
    assert json.loads(after.key) == {"id": ""}
    value = json.loads(after.value)
    payload = value["payload"] if "schema" in value else value
    assert payload == {"outer.name": "", "outer.a": 5, "outer.at": "2023-11-14"}
    assert after.headers == (("h", b"1"), ("h", b""))


def test_generated_code_of_the_whole_chain_compiles(spark, every):
    """Spark falls back to slower ways silently, with a warning at most; here it must not."""
    props, schemas, record = every
    df = compiled(props, schemas).apply(frame(spark, [record]))
    before = {key: spark.conf.get(key) for key in ("spark.sql.codegen.fallback", "spark.sql.codegen.factoryMode")}
    try:
        spark.conf.set("spark.sql.codegen.fallback", "false")
        spark.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY")
        assert len(df.collect()) == 1
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


ROUND = (
    {"type": "InsertField$Value", "static.field": "s{i}", "static.value": "x", "predicate": "eu"},
    {"type": "Cast$Value", "spec": "a{i}:int32", "predicate": "tomb", "negate": "true"},
    {"type": "MaskField$Value", "fields": "m{i}", "predicate": "marked"},
    {"type": "RegexRouter", "regex": "(.*)-{i}", "replacement": "$1", "predicate": "eu", "negate": "true"},
)
SAME = (
    {"type": "InsertField$Value", "static.field": "s", "static.value": "x{i}", "predicate": "eu"},
    {"type": "Cast$Value", "spec": "a:int32", "predicate": "tomb", "negate": "true"},
    {"type": "MaskField$Value", "fields": "m", "predicate": "marked"},
    {"type": "Cast$Value", "spec": "a:string,m:string", "predicate": "eu", "negate": "true"},
)


def repeated(stages, n):
    return config(
        *({k: v.replace("{i}", str(i)) for k, v in stages[i % len(stages)].items()} for i in range(n)), predicates=PREDICATES
    )


def text_of(chain):
    """All SQL of a compiled chain."""
    result = list(chain.columns.values())
    for layer in chain.scope._layers:
        if isinstance(layer, FilterLayer):
            result.append(layer.condition)
        elif isinstance(layer, JsonReader):
            result.append(layer.sql())
        else:
            result += layer.values()
    return result


@pytest.mark.parametrize("stages", [ROUND, SAME], ids=["fields of their own", "the same fields again and again"])
def test_the_expressions_grow_linearly_with_the_chain(stages):
    sizes = {}
    for n in (4, 8, 16, 32):
        chain = compiled(repeated(stages, n))
        sizes[n] = sum(map(len, text_of(chain)))
    growth = [(sizes[2 * n] - sizes[n]) / n for n in (4, 8, 16)]  # characters for one more stage
    assert max(growth) <= 1.3 * min(growth), sizes


def test_the_number_of_layers_grows_linearly_with_the_chain():
    layers = {n: len(compiled(repeated(SAME, n)).scope._layers) for n in (8, 16, 32)}
    assert layers[32] - layers[16] <= 1.3 * 2 * (layers[16] - layers[8]), layers


EITHER = (
    {"type": "InsertField$Value", "static.field": "s{i}", "static.value": "x", "predicate": "eu"},
    {"type": "InsertField$Value", "static.field": "s{i}", "static.value": "y", "predicate": "eu", "negate": "true"},
)
"""Structs with other fields are values of their own, of which there must not be twice as many after each stage."""


def repeated_either(n, *predicates):
    pairs = [[{**stage, "predicate": p} for stage in EITHER] for p in (predicates * n)[:n]]
    chain = [{k: v.replace("{i}", str(i)) for k, v in stage.items()} for i, pair in enumerate(pairs) for stage in pair]
    return config(*chain, predicates=PREDICATES, value_converter_schemas_enable="true")


@pytest.mark.parametrize("predicates", [["eu"], ["eu", "tomb", "marked"]], ids=["one predicate", "three predicates"])
def test_fields_of_structs_that_predicates_decide_on_grow_linearly_with_the_chain(predicates):
    schemas = {"value": [json.dumps(SCHEMA, separators=(", ", ": "))]}
    sizes = {n: sum(map(len, text_of(compiled(repeated_either(n, *predicates), schemas)))) for n in (4, 8, 16)}
    assert sizes[16] - sizes[8] <= 2.3 * (sizes[8] - sizes[4]), sizes


def test_predicates_that_could_give_too_many_schemas_are_refused():
    topics = {f"p{i}": {"type": "TopicNameMatches", "pattern": f"{i}.*"} for i in range(10)}
    inserts = [{"type": "InsertField$Value", "static.field": name, "static.value": "x", "predicate": name} for name in topics]
    schemas = {"value": [json.dumps(SCHEMA, separators=(", ", ": "))]}
    fitting = config(*inserts[:6], predicates=topics, value_converter_schemas_enable="true")
    assert compiled(fitting, schemas)
    with pytest.raises(ConfigError, match="more than 128 different schemas"):
        compiled(config(*inserts, predicates=topics, value_converter_schemas_enable="true"), schemas)


def test_ten_transforms_with_five_predicates_are_one_pass(spark, capsys):
    predicates = {
        **PREDICATES,
        "us": {"type": "TopicNameMatches", "pattern": "us-.*"},
        "other": {"type": "HasHeaderKey", "name": "other"},
    }
    names = list(predicates)
    chain = [{**stage, "predicate": names[i % 5]} for i, stage in enumerate(ALL[:10])]
    source = frame(spark, [Record(PLAIN)])
    took, found = 0.0, []
    for _ in range(3):  # the first ones warm the JVM up
        start = time.perf_counter()
        df = compiled(config(*chain, predicates=predicates), show=False).apply(source)
        found = nodes(executed(df))
        took = time.perf_counter() - start
    with capsys.disabled():
        print(f" [10 transforms, 5 predicates: compiled and planned in {took:.2f} s]", end="")
    assert set(found) <= ONE_PASS | {"InputAdapter"}
