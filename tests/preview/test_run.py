from __future__ import annotations

import pytest

from headrace.errors import BadRequestError
from headrace.preview.records import from_objects
from tests.preview.conftest import IS_TOMBSTONE, JSON, MIRROR, TRANSFORMS, chain, prepared

FILTER = chain(f={"type": "Filter", "predicate": "empty"}) | IS_TOMBSTONE
TO_INT = {"type": "Cast$Value", "spec": "id:int32"}
ROUTE = {"type": "RegexRouter", "regex": "(.*)", "replacement": "copy.$1"}


def texts(record, part="value"):
    return [step["record"] and step["record"][part]["json"] for step in record["steps"]]


def test_a_record_is_shown_before_and_after_every_stage(preview):
    (record,) = preview(MIRROR | chain(c=TO_INT, r=ROUTE), {"key": "k", "value": '{"id":"5","x":1.50}', "headers": [["h", "1"]]})
    assert record["input"]["value"] == '{"id":"5","x":1.50}'
    assert [(s["step"], s["applied"], s["record"]["topic"]) for s in record["steps"]] == [
        ("input", True, "orders"),
        ("transform:c", True, "orders"),
        ("transform:r", True, "copy.orders"),
    ]
    assert texts(record) == ['{"id":"5","x":1.50}', '{"x":1.50,"id":5}', '{"x":1.50,"id":5}']
    first = record["steps"][0]["record"]
    assert first["key"] == {"type": "string", "json": '"k"', "schema": {"type": "string", "optional": True}}
    assert (first["value"]["type"], first["value"]["schema"], first["headers"]) == ("map", None, [["h", "1"]])
    assert (record["outcome"], record["failure"], record["dropped_by"]) == ("passed", None, None)
    assert record["output"] == {
        "topic": "copy.orders", "partition": 0, "timestamp": 0, "key": "k", "value": '{"x":1.50,"id":5}', "headers": [["h", "1"]],
    }  # fmt: skip


def test_a_filter_drops_and_the_stages_after_it_are_not_shown(preview):
    config = MIRROR | FILTER | {"transforms": "f,c"} | {f"transforms.c.{k}": v for k, v in TO_INT.items()}
    config["transforms.c.type"] = TRANSFORMS + "Cast$Value"
    kept, dropped = preview(config, {"value": '{"id":1}'}, {"value": None})
    assert (kept["outcome"], [s["step"] for s in kept["steps"]]) == ("passed", ["input", "transform:f", "transform:c"])
    assert (dropped["outcome"], dropped["dropped_by"], dropped["output"]) == ("dropped", "f", None)
    assert [(s["step"], s["dropped"], s["record"] is None) for s in dropped["steps"]] == [
        ("input", False, False),
        ("transform:f", True, True),
    ]


def test_a_failure_names_its_step_and_cause_and_what_follows(preview):
    first, second = preview(MIRROR | chain(r=ROUTE, c=TO_INT), {"value": '{"id":"five"}'}, {"value": '{"id":"5"}'})
    assert first["failure"] == {
        "step": "transform:c",
        "class": "org.apache.kafka.connect.errors.DataException",
        "message": "Value (five) was out of range for requested data type",
        "cause": 'java.lang.NumberFormatException: For input string: "five"',
        "then": "the task fails (errors.tolerance is none)",
    }
    assert [(s["step"], s["failed"], s["record"] is None) for s in first["steps"]] == [
        ("input", False, False),
        ("transform:r", False, False),
        ("transform:c", True, True),
    ]
    assert (first["outcome"], first["output"], first["destination"]) == ("failed", None, None)
    assert second["outcome"] == "passed"


@pytest.mark.parametrize(
    ("settings", "then"),
    [
        ({}, "the record is left out (errors.tolerance is all)"),
        ({"errors.deadletterqueue.topic.name": "bad"}, "the record goes to the dead letter topic 'bad'"),
    ],
)
def test_a_failure_that_is_tolerated_says_where_the_record_goes(preview, settings, then):
    config = MIRROR | chain(c=TO_INT) | {"errors.tolerance": "all"} | settings
    (record,) = preview(config, {"value": '{"id":"five"}'})
    assert record["failure"]["then"] == then


def test_it_says_whether_a_predicate_held_and_the_stage_was_applied(preview):
    config = MIRROR | IS_TOMBSTONE | chain(r={**ROUTE, "predicate": "empty"}, s={**ROUTE, "predicate": "empty", "negate": "true"})
    full, empty = preview(config, {"value": "{}"}, {"value": None})

    def seen(record):
        return [(s["predicate"]["held"], s["applied"], s["record"]["topic"]) for s in record["steps"][1:]]

    assert seen(full) == [(False, False, "orders"), (False, True, "copy.orders")]
    assert seen(empty) == [(True, True, "copy.orders"), (True, False, "copy.orders")]
    assert full["steps"][2]["predicate"] == {"alias": "empty", "negate": True, "held": False}


def test_malformed_data_fails_at_the_input(preview):
    bad, good = preview(MIRROR, {"value": "{bad"}, {"value": "{}"})
    assert (bad["outcome"], bad["failure"]["step"]) == ("failed", "input.value")
    assert [(s["step"], s["failed"], s["record"]) for s in bad["steps"]] == [("input", True, None)]
    assert good["outcome"] == "passed"


def test_what_cannot_be_written_fails_after_all_stages(preview):
    config = MIRROR | chain(r=ROUTE) | {"value.converter": "org.apache.kafka.connect.converters.IntegerConverter"}
    (record,) = preview(config, {"value": '{"a":1}'})
    assert record["failure"]["step"] == "output.value"
    assert texts(record) == ['{"a":1}', '{"a":1}']
    assert record["outcome"] == "failed"


def test_the_topic_that_would_be_created_has_the_settings_of_its_rule(preview):
    config = MIRROR | chain(r=ROUTE) | {
        "topic.creation.groups": "copies",
        "topic.creation.copies.include": "copy\\..*",
        "topic.creation.copies.partitions": "6",
        "topic.creation.copies.cleanup.policy": "compact",
        "topic.creation.default.partitions": "-1",
        "topic.creation.default.replication.factor": "2",
    }  # fmt: skip
    (record,) = preview(config, {"value": "{}"})
    assert record["destination"] == {
        "topic": "copy.orders",
        "exists": None,
        "partitions": None,
        "create": {"group": "copies", "partitions": 6, "replication.factor": 2, "configs": {"cleanup.policy": "compact"}},
        "note": None,
    }


def test_without_rules_the_topic_has_to_exist(preview):
    (record,) = preview(MIRROR, {"value": "{}"})
    assert record["destination"]["create"] is None
    assert "the topic has to exist, unless the broker creates it" in record["destination"]["note"]


def test_a_mirror_gives_its_chain_what_its_settings_say(preview):
    config = MIRROR | {
        "destination.topics.prefix": "eu.", "include.message.headers": "false", "destination.partition": "partitioner",
    }  # fmt: skip
    (record,) = preview(config, {"topic": "a", "partition": 4, "value": "{}", "headers": [["h", "1"]]})
    assert (record["input"]["topic"], record["input"]["headers"]) == ("a", [["h", "1"]])
    assert {k: record["output"][k] for k in ("topic", "partition", "headers")} == {
        "topic": "eu.a",
        "partition": None,
        "headers": [],
    }


def test_a_line_of_a_file_is_text_without_a_key(preview):
    config = {"connector.class": "FileStreamSource", "topic": "lines", **chain(h={"type": "HoistField$Value", "field": "line"})}
    (record,) = preview(config, {"key": "k", "value": "hello"})
    assert (record["output"]["topic"], record["output"]["key"], record["output"]["value"]) == ("lines", None, '{"line":"hello"}')
    assert texts(record) == ['"hello"', '{"line":"hello"}']


def test_a_sink_gets_the_record_with_its_offset_and_has_no_destination(preview, sink):
    insert = chain(i={"type": "InsertField$Value", "offset.field": "o"})
    config = {"connector.class": sink, "topics": "orders,more", **insert}
    (record,) = preview(config, {"value": '{"a":1}', "offset": 77})
    assert (record["input"]["topic"], record["destination"]) == ("orders", None)
    assert texts(record)[-1] == '{"a":1,"o":77}'


def test_data_with_schemas_is_shown_with_them_and_nulls_as_they_are(preview, sink):
    config = {
        "connector.class": sink, "topics": "t", "value.converter": JSON,
        **chain(t={"type": "TimestampConverter$Value", "field": "at", "target.type": "Timestamp"}),
    }  # fmt: skip
    fields = '{"field":"at","type":"int64"},{"field":"d","type":"string","optional":true,"default":"x"}'
    value = '{"schema":{"type":"struct","fields":[' + fields + ']},"payload":{"at":1700000000000,"d":null}}'
    config["value.converter.replace.null.with.default"] = "false"
    config["transforms.t.replace.null.with.default"] = "false"
    plain = '{"schema":{"type":"string"},"payload":"s"}'
    struct, text = preview(config, {"value": value}, {"value": plain})
    assert texts(struct) == ['{"at":1700000000000,"d":null}', '{"at":"2023-11-14T22:13:20.000Z","d":null}']
    schemas = [step["record"]["value"]["schema"]["fields"][0].get("name") for step in struct["steps"]]
    assert schemas == [None, "org.apache.kafka.connect.data.Timestamp"]
    assert (text["outcome"], text["steps"][0]["record"]["value"]["type"]) == ("failed", "string")


def test_bytes_odd_names_and_big_numbers_are_shown_as_they_are(preview):
    value = '{"a.b`\'\\"😀":123456789012345678901234567890,"n":1.10}'
    config = MIRROR | chain(i={"type": "InsertField$Value", "static.field": "s", "static.value": "'$\\${x}"})
    record, binary = preview(config, {"value": value}, {"value": {"base64": "/w=="}})
    assert '"a.b`\'\\"😀":123456789012345678901234567890,"n":1.10' in record["output"]["value"]
    assert (binary["input"]["value"], binary["failure"]["step"]) == ({"base64": "/w=="}, "input.value")


def test_a_bad_configuration_is_refused_with_all_that_is_wrong_in_it():
    with pytest.raises(BadRequestError) as error:
        prepared(MIRROR | chain(c={"type": "Cast$Value"}, f={"type": "Filter", "negate": "true"}))
    assert "contains the following 3 error(s):" in str(error.value)
    with pytest.raises(BadRequestError, match="contains no connector type"):
        prepared({"name": "x"})


def test_what_only_shows_when_a_task_starts_is_refused_too():
    with pytest.raises(BadRequestError, match=r"A task of the connector could not start: .*No field insertion configured"):
        prepared(MIRROR | chain(i={"type": "InsertField$Value"}))


def test_the_answer_names_the_connector(spark):
    result = prepared(MIRROR | {"name": "mirror"})
    response = result.run(spark, from_objects([{"value": "{}"}], result.topic), describe_topics=False)
    assert [response[k] for k in ("connector", "class", "type")] == ["mirror", MIRROR["connector.class"], "source"]


def test_a_destination_cluster_that_does_not_answer_leaves_unknown_what_exists(spark, monkeypatch):
    monkeypatch.setattr("headrace.preview.destination.TIMEOUT_S", 0.5)
    result = prepared(MIRROR)
    response = result.run(spark, from_objects([{"value": "{}"}], result.topic))
    assert response["records"][0]["destination"]["exists"] is None
