"""What each column of a record is made of, beside tables written by hand, and beside what a chain really does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from headrace.preview.records import from_objects
from headrace.preview.run import prepare
from headrace.runtime.worker_config import WorkerConfig
from headrace.transforms.stages import column_lineage, stages
from headrace.values.sql_references import references, sole_reference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA = "org.apache.kafka.connect.transforms."
Rows = dict[str, list[str]]


def table(**settings: str) -> Rows:
    """The table of a chain: column → what it is made of, without `IDENTITY`."""
    aliases = list(dict.fromkeys(key.split("__")[0] for key in settings if not key.startswith("is__")))
    props = {"transforms": ",".join(aliases)}
    for key, value in settings.items():
        alias, _, option = key.partition("__")
        prefix = "predicates.is." if alias == "is" else f"transforms.{alias}."
        props[prefix + option.replace("_", ".")] = value
    if any(key.startswith("is__") for key in settings):
        props["predicates"] = "is"
    return shown(props)


def shown(props: dict[str, str]) -> Rows:
    return {
        row.column: [name if how == "IDENTITY" else f"{name} {how}" for name, how in row.origins]
        for row in column_lineage(stages(props))
    }


TEN = {
    "transforms": "city,mask,cast,rename,source,static,hoist,flat,key,route",
    "transforms.city.type": "headrace.transforms.Sql", "transforms.city.value.city": "value:address.city::string",
    "transforms.city.value.total": "value:price::double * value:amount::int",
    "transforms.mask.type": KAFKA + "MaskField$Value", "transforms.mask.fields": "card",
    "transforms.cast.type": KAFKA + "Cast$Value", "transforms.cast.spec": "id:string",
    "transforms.rename.type": KAFKA + "ReplaceField$Value", "transforms.rename.exclude": "address,price",
    "transforms.rename.renames": "id:order_id",
    "transforms.source.type": KAFKA + "InsertField$Value", "transforms.source.topic.field": "src",
    "transforms.source.timestamp.field": "at",
    "transforms.static.type": KAFKA + "InsertField$Value", "transforms.static.static.field": "version",
    "transforms.static.static.value": "1",
    "transforms.hoist.type": KAFKA + "HoistField$Value", "transforms.hoist.field": "order",
    "transforms.flat.type": KAFKA + "Flatten$Value", "transforms.flat.delimiter": "_",
    "transforms.key.type": KAFKA + "ValueToKey", "transforms.key.fields": "order_order_id,order_city",
    "transforms.route.type": KAFKA + "RegexRouter", "transforms.route.regex": "(.*)", "transforms.route.replacement": "to.$1",
}  # fmt: skip
BY_HAND = {
    "topic": ["topic TRANSFORMATION"],
    "partition": ["partition"],
    "timestamp": ["timestamp"],
    "key.order_order_id": ["value.id TRANSFORMATION"],
    "key.order_city": ["value.address.city TRANSFORMATION"],
    "value.order_city": ["value.address.city TRANSFORMATION"],
    "value.order_total": ["value.amount TRANSFORMATION", "value.price TRANSFORMATION"],
    "value.order_card": ["value.card MASKED"],
    "value.order_order_id": ["value.id TRANSFORMATION"],
    "value.order_src": ["topic"],
    "value.order_at": ["timestamp"],
    "value.order_version": [],
    "value.order_*": ["value"],
    "headers": ["headers"],
}


def test_the_columns_of_ten_transforms_are_as_a_table_written_by_hand():
    assert shown(TEN) == BY_HAND


RECORD: dict[str, Any] = {
    "id": 1, "card": "4111", "price": 2.5, "amount": 3, "address": {"city": "Bern", "zip": 3000}, "note": "n",
}  # fmt: skip
CHANGED: dict[str, dict[str, Any]] = {
    "value.id": {"id": 2}, "value.card": {"card": "42"}, "value.price": {"price": 7.5}, "value.amount": {"amount": 9},
    "value.address.city": {"address": {"city": "Basel", "zip": 3000}}, "value.note": {"note": "o"}, "nothing": {},
}  # fmt: skip


def test_a_column_changes_only_with_those_that_it_is_said_to_be_made_of(spark: SparkSession):
    """One column of a record at a time is changed: what differs after the chain is what the table has; masks never differ."""
    converters = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}
    settings = {f"{name}.schemas.enable": "false" for name in converters} | converters
    worker = WorkerConfig({"bootstrap.servers": "unused:9092", **settings})
    config = {"connector.class": "FileStreamSink", "topics": "t", **TEN}
    prepared = prepare(config, worker)
    changed = [{"topic": "t", "timestamp": 5, "value": json.dumps(RECORD | change)} for change in CHANGED.values()]
    response = prepared.run(spark, from_objects(changed, "t"), describe_topics=False)
    after = dict(zip(CHANGED, (flat(record["steps"][-1]["record"]) for record in response["records"]), strict=True))
    for origin, columns in after.items():
        differs = {name for name in columns if columns[name] != after["nothing"][name]}
        said = {name for name, origins in BY_HAND.items() for one in origins if one.removesuffix(" TRANSFORMATION") == origin}
        others = {f"value.order_{origin.rpartition('.')[2]}"} - BY_HAND.keys()  # of `value.order_*`
        assert differs == said | (others & columns.keys()), origin


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """Column → value of a previewed record."""
    parts = {f"{part}.{name}": value for part in ("key", "value") for name, value in json.loads(record[part]["json"]).items()}
    return parts | {"topic": record["topic"]}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"a__type": "ExtractField$Value", "a__field": "f"}, {"value": ["value.f"]}),
        ({"a__type": "ReplaceField$Value", "a__include": "b,c", "a__renames": "b:d"},
         {"value.d": ["value.b"], "value.c": ["value.c"]}),
        ({"a__type": "HeaderFrom$Value", "a__fields": "id", "a__headers": "h", "a__operation": "move"},
         {"headers.h": ["headers.h", "value.id"], "headers.*": ["headers"], "value.*": ["value"]}),
        ({"a__type": "Cast$Value", "a__spec": "int32"}, {"value": ["value TRANSFORMATION"]}),
        ({"a__type": "TimestampRouter"}, {"topic": ["timestamp TRANSFORMATION", "topic TRANSFORMATION"]}),
        ({"a__type": "Filter", "a__predicate": "is", "is__type": "headrace.predicates.FieldValueMatches", "is__field": "a.b",
          "is__exists": "true"}, {"*": ["value.a.b FILTER"], "value": ["value"]}),
        ({"a__type": "MaskField$Value", "a__fields": "pin", "a__predicate": "is", "is__type": "TopicNameMatches",
          "is__pattern": "x"},
         {"value.pin": ["topic CONDITION", "value.pin", "value.pin MASKED"], "value.*": ["value"]}),
    ],
)  # fmt: skip
def test_each_transform_says_what_its_columns_are_made_of(settings: dict[str, str], expected: Rows):
    full = {key: KAFKA + value if key == "a__type" else value for key, value in settings.items()}
    result = table(**full)
    assert {column: result.get(column) for column in expected} == expected


def test_what_a_users_own_code_does_is_not_guessed():
    result = table(a__type="tests.transforms.own_plugins.Unchanged")
    assert {"key TRANSFORMATION", "value TRANSFORMATION"} <= set(result["value"])


def test_the_columns_that_an_expression_names_are_read_from_its_text():
    text = "concat(value:a.b::string, key.`x.y`, 'value.no') /* value.c */ || timestamp(topic) -- headers"
    assert list(references(text)) == [("value", "a", "b"), ("key", "x.y"), ("topic",)]
    assert sole_reference("value.a") == ("value", "a") and sole_reference("value.a + 1") is None
