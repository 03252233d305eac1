"""Records as typed columns: the form in which SparkSink asks for them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from headrace.connectors.spark_sink.columns import ColumnWriter
from headrace.converters.base import Writers, load, load_header
from headrace.transforms.chain import Readers, compile_chain
from tests.transforms.chains import BYTES, JSON, SIMPLE, STRING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def written(
    spark: SparkSession,
    converter: str,
    ddl: str | None,
    values: list[Any],
    schemas: tuple[str, ...] = (),
    *,
    enveloped: bool = False,
) -> tuple[str, list[Any], list[str | None]]:
    """The type of the column, its values, and what is wrong with each record."""
    settings = {} if schemas or converter != JSON else {"schemas.enable": "false"}
    reading = Readers(load(BYTES, {}, is_key=True), load(converter, settings, is_key=False), load_header(SIMPLE, {}))
    writing = Writers(load(BYTES, {}, is_key=True), ColumnWriter("value", ddl, enveloped), load_header(SIMPLE, {}))
    compiled = compile_chain((), reading, writing, {"value": schemas}, sink=True)
    given = "in_topic string, in_partition int, in_offset bigint, in_timestamp bigint, in_key binary, in_value binary"
    rows = [("t", 0, n, 0, None, value if value is None else bytearray(value)) for n, value in enumerate(values)]
    frame = spark.createDataFrame(rows, given)
    frame = frame.selectExpr("*", "cast(array() as array<struct<key:string,value:binary>>) AS in_headers")
    made = compiled.apply(frame, ["in_offset"]).orderBy("in_offset")
    found: list[Any] = made.selectExpr("value", "failure.message AS wrong").collect()
    return made.schema["value"].dataType.simpleString(), [row.value for row in found], [row.wrong for row in found]


def schema(**fields: str) -> str:
    made = [{"field": name, "type": type_, "optional": True} for name, type_ in fields.items()]
    return json.dumps({"type": "struct", "optional": False, "fields": made}, separators=(",", ":"))


def envelope(schema_text: str, payload: Any) -> bytes:
    return f'{{"schema":{schema_text},"payload":{json.dumps(payload)}}}'.encode()


def test_values_of_several_schemas_have_the_fields_of_all(spark: SparkSession) -> None:
    old, new = schema(id="int32", name="string", kind="int32"), schema(id="int64", more="boolean", kind="string")
    values = [envelope(old, {"id": 1, "name": "a", "kind": 7}), envelope(new, {"id": 2, "more": True, "kind": "x"}), None]
    type_, rows, wrong = written(spark, JSON, None, values, (old, new))
    assert type_ == "struct<id:bigint,name:string,kind:string,more:boolean,headrace_own_fields:array<string>>"
    own = ["id", "name", "kind"], ["id", "more", "kind"]  # NULL does not say whether the record has a field
    assert [row and tuple(row) for row in rows] == [(1, "a", "7", None, own[0]), (2, None, "x", True, own[1]), None]
    assert wrong == [None, None, None]


def test_what_a_type_of_sparks_cannot_hold_fails_wherever_it_is(spark: SparkSession) -> None:
    decimal = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "0"}, "optional": True}
    time = {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "optional": True}
    small, large = (base64.b64encode(number.to_bytes(20, "big")).decode() for number in (7, 10**39))
    for item, good, bad, at_all in ((decimal, small, large, "has more digits than"), (time, 1, 2**62, "is beyond the times of")):
        listed = json.dumps({"type": "array", "items": item, "optional": True}, separators=(",", ":"))
        fields = [{**item, "field": "one"}]
        single = json.dumps({"type": "struct", "fields": fields, "optional": True}, separators=(",", ":"))
        _, rows, wrong = written(spark, JSON, None, [envelope(listed, [good, None]), envelope(listed, [good, bad])], (listed,))
        assert [len(row or ()) for row in rows] == [2, 0]
        assert wrong[0] is None
        assert "The value has a value in it that Spark's ARRAY<" in str(wrong[1])
        _, rows, wrong = written(spark, JSON, None, [envelope(single, {"one": good}), envelope(single, {"one": bad})], (single,))
        assert wrong[0] is None
        assert f"The field one {at_all}" in str(wrong[1])


def test_values_without_schema_are_read_by_the_one_that_is_given(spark: SparkSession) -> None:
    ddl = "id BIGINT, at STRUCT<x: DOUBLE>"
    for converter in (JSON, STRING, BYTES):
        values = [b'{"id": 1, "at": {"x": 0.5}, "other": 1}', b'{"id": "one"}', None]
        type_, rows, wrong = written(spark, converter, ddl, values)
        assert type_ == "struct<id:bigint,at:struct<x:double>>"
        assert [row and row.asDict(recursive=True) for row in rows] == [{"id": 1, "at": {"x": 0.5}}, None, None]
        assert wrong == [None, f"The value is not a JSON object of {ddl}", None]


def test_values_without_any_schema_are_what_they_are(spark: SparkSession) -> None:
    assert written(spark, JSON, None, [b'{"id": 1}'])[0] == "variant"
    assert written(spark, STRING, None, [b"text"])[:2] == ("string", ["text"])
    assert written(spark, BYTES, None, [b"\x00"])[:2] == ("binary", [bytearray(b"\x00")])


def test_change_events_give_the_row_after_and_nothing_for_a_delete(spark: SparkSession) -> None:
    row = {"type": "struct", "optional": True, "fields": [{"field": "id", "type": "int32", "optional": False}]}
    members = [{**row, "field": "before"}, {**row, "field": "after"}, {"field": "op", "type": "string", "optional": False}]
    events = json.dumps({"type": "struct", "optional": False, "fields": members}, separators=(",", ":"))
    other = schema(id="int32")
    given = [
        envelope(events, {"before": None, "after": {"id": 1}, "op": "c"}),
        envelope(events, {"before": {"id": 1}, "after": None, "op": "d"}),
        None,
        envelope(other, {"id": 1}),
    ]
    type_, rows, wrong = written(spark, JSON, None, given, (events, other), enveloped=True)
    assert (type_, [row and tuple(row) for row in rows]) == ("struct<id:int>", [(1,), None, None, None])
    assert wrong == [None, None, None, "The value is no change event of Debezium: it has no field op"]
    plain = [b'{"before": null, "after": {"id": 2}, "op": "u"}', b'{"before": {"id": 2}, "after": null, "op": "d"}', b"7"]
    _, rows, wrong = written(spark, JSON, "id INT", plain, enveloped=True)
    assert [row and tuple(row) for row in rows] == [(2,), None, None]
    assert wrong == [None, None, "The value is no change event of Debezium: it is no object"]
    unwrapped = [b'{"id": 1}', b'{"op": "c", "id": 1}', b'{"after": {"id": 1}}']
    _, rows, wrong = written(spark, JSON, "id INT", unwrapped, enveloped=True)
    missing = [f"The value is no change event of Debezium: it has no field {name}" for name in ("op", "after", "op")]
    assert wrong == missing  # they would be records without value, which delete rows
