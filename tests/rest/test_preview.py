"""POST /headrace/preview, over a herder that is never asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONFIG = {
    "connector.class": "FileStreamSource",
    "topic": "lines",
    "transforms": "hoist",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "line",
    "value.converter": JSON,
    "value.converter.schemas.enable": False,
}
PATH = "/headrace/preview"


@pytest.fixture
def client(serve: Callable[..., Client]) -> Client:
    return serve({"bootstrap.servers": "localhost:1"})


def test_records_go_through_the_chain_and_no_connector_is_made(client, herder: MemoryHerder, spark, monkeypatch):
    monkeypatch.setattr("headrace.preview.destination.TIMEOUT_S", 0.5)
    answer = client("POST", PATH, {"config": CONFIG, "records": [{"value": "a", "offset": 9007199254740993}, {"value": "b"}]})
    assert answer.status == 200
    assert (answer.json["connector"], answer.json["type"]) == (None, "source")
    assert [record["output"]["value"] for record in answer.json["records"]] == ['{"line":"a"}', '{"line":"b"}']
    assert answer.json["records"][0]["input"]["offset"] == 9007199254740993
    assert [step["step"] for step in answer.json["records"][0]["steps"]] == ["input", "transform:hoist"]
    assert herder.configs == {}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "Expected a request"),
        ({"config": CONFIG}, "Expected a request"),
        ({"config": CONFIG, "records": [{}], "live": 1}, "Expected a request"),
        ({"config": CONFIG, "record": []}, 'Unrecognized field "record" in the request'),
        ({"config": [], "records": [{}]}, '"config" has to be a JSON object; got an array.'),
        ({"config": {}, "records": [{}]}, "Connector config {} contains no connector type"),
        (
            {"config": {**CONFIG, "transforms.hoist.field": None}, "records": [{}]},
            "Null value can not be supplied",
        ),
        ({"config": CONFIG, "records": {}}, '"records" has to be a JSON array; got an object.'),
        ({"config": CONFIG, "records": []}, "There are no records to preview; give at least one."),
        ({"config": CONFIG, "records": [{}, {"value": 1}]}, "record 2 is no record: `value` has to be a text"),
        ({"config": CONFIG, "live": "5"}, '`live` is "5"; it has to be a number of records from 1 to 1000.'),
        ({"config": CONFIG, "live": 5}, "does not read from Kafka: give records instead of asking for live ones."),
    ],
)
def test_what_is_wrong_is_a_400_in_the_form_of_kafka(client, body, message):
    answer = client("POST", PATH, body)
    assert (answer.status, answer.json["error_code"]) == (400, 400)
    assert message in answer.message


def test_a_worker_that_is_starting_previews_nothing_yet(client, herder: MemoryHerder):
    herder.up = False
    assert client("POST", PATH, {"config": CONFIG, "records": [{}]}).status == 503
