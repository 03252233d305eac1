"""The client and the converters beside a real registry: Apicurio's, by the interface that is compatible with Confluent's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

from headrace.errors import SetupError
from headrace.registry.errors import RegistryError
from tests.avro import test_data as avro
from tests.avro.chains import props, through
from tests.json_schema import test_data as json_schema
from tests.protobuf import test_data as protobuf
from tests.registry import apicurio
from tests.registry.test_client import client
from tests.transforms.chains import Failed, Record

pytestmark = pytest.mark.slow
ONE, TWO = ({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}, *more]} for more in (
    [], [{"name": "note", "type": ["null", "string"], "default": None}]))  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A registry with the members of `SchemaRegistry` that the tests of data use."""
    if apicurio.java() is None:
        pytest.skip(f"Apicurio Registry needs Java {apicurio.OLDEST}")
    try:
        apicurio.program()
    except SetupError as error:  # 158 MB, of which nothing but these tests has need
        pytest.skip(f"Apicurio Registry could not be fetched: {error}")
    with apicurio.running(tmp_path_factory.mktemp("apicurio") / "log") as url:
        yield SimpleNamespace(url=url)


def test_schemas_are_registered_found_and_refused(real: Any) -> None:
    registry_client = client(real.url)
    first, second = (registry_client.register("first-value", json.dumps(schema)) for schema in (ONE, TWO))
    assert (registry_client.register("first-value", json.dumps(ONE)), registry_client.lookup("first-value", json.dumps(TWO))) == (
        first,
        second,
    )
    other = client(real.url)
    assert json.loads(other.schema(second).text) == TWO
    assert json.loads(other.latest("first-value").text) == TWO
    assert [(place.subject, place.version) for place in other.subject_versions(second)] == [("first-value", 2)]
    with pytest.raises(RegistryError, match=r"refuses \(404, error 40403\)") as missing:
        other.schema(2**20)
    assert missing.value.is_missing
    with pytest.raises(RegistryError, match=r"refuses \(404, error 404") as unknown:
        other.lookup("none-value", json.dumps(ONE))
    assert unknown.value.is_missing


def test_what_confluents_serializers_write_is_read_and_written(spark: SparkSession, real: Any) -> None:
    message = protobuf.message("shop.Order", protobuf.DATA)
    cases = {  # a subject of Apicurio's has one type of schemas
        avro.AVRO: avro.serialized(real, avro.ALL, avro.DATA, "orders.avro"),
        json_schema.CONVERTER: json_schema.serialized(real, json_schema.SCHEMA, json_schema.DATA, "orders.json"),
        protobuf.CONVERTER: protobuf.serialized(real, message, "orders.protobuf"),
    }
    for number, (converter, data) in enumerate(cases.items()):
        topic = f"copies{number}"
        [result] = through(spark, props(real, converter), [Record(data, topic=topic)])
        assert isinstance(result, Record), result
        assert int.from_bytes((result.value or b"")[1:5]) == client(real.url).latest(f"{topic}-value").id
        [again] = through(spark, props(real, converter), [result])
        assert again.value == result.value  # the same id: the same text is found under the subject


def test_a_schema_that_is_incompatible_is_an_error_in_the_registrys_words(spark: SparkSession, real: Any) -> None:
    client(real.url).register("narrow-value", json.dumps({**ONE, "fields": [{"name": "id", "type": "string"}]}))
    httpx.put(f"{real.url}/config/narrow-value", json={"compatibility": "BACKWARD"}, timeout=100).raise_for_status()
    data = avro.serialized(real, ONE, {"id": 1}, "wide")
    [result] = through(spark, props(real), [Record(data, topic="narrow")])
    assert isinstance(result, Failed)
    assert "refuses (409, error 409)" in str(result.cause)
