"""What is refused before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.spark_sink.config import SparkSinkConfig
from headrace.connectors.spark_sink.connector import SparkSinkConnector
from headrace.connectors.spark_source.connector import SparkSourceConnector
from headrace.errors import ConfigError, ConnectError
from headrace.spark.jdbc import no_driver
from headrace.spark.optional_jars import FORMATS, requested_formats

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("given", "option", "sentence"),
    [
        ({"format": "jdbc"}, "mode", "The format jdbc needs one of incrementing, timestamp, timestamp+incrementing, bulk"),
        ({"format": "jdbc", "mode": "timestamp"}, "timestamp.column.name", "The mode timestamp needs the column"),
        ({"format": "jdbc", "mode": "bulk"}, "option.url", "The format jdbc needs the URL of the database"),
        ({"format": "json"}, "option.path", "The format json needs the path of its files"),
        ({"format": "json", "mode": "timestamp"}, "mode", "It is for the format jdbc; json takes bulk or none"),
        ({"format": "rate", "topic.expression": "x"}, "topic", "Either topic or topic.expression has to be set, and not both"),
    ],
)
def test_what_a_source_needs(spark: SparkSession, given: dict[str, str], option: str, sentence: str) -> None:
    assert SparkSourceConnector.problems({"topic": "t", **given})[option] == [sentence]


@pytest.mark.parametrize(
    ("given", "option", "sentence"),
    [
        ({"format": "jdbc", "insert.mode": "upsert"}, "pk.mode", "insert.mode=upsert needs a primary key"),
        ({"format": "jdbc", "delete.enabled": "true"}, "delete.enabled", "Deletes need pk.mode=record_key"),
        ({"format": "delta"}, "option.path", "The format delta needs the path of the table"),
        ({"format": "jdbc", "option.url": "jdbc:sqlserver://db", "option.dbtable": "t"}, "option.url",
         "The stage table needs CREATE TABLE … AS SELECT, which this database does not have"),
        ({"format": "json", "metadata.columns": "when"}, "metadata.columns",
         "when is none of topic, partition, offset, timestamp, key"),
    ],
)  # fmt: skip
def test_what_a_sink_needs(spark: SparkSession, given: dict[str, str], option: str, sentence: str) -> None:
    assert SparkSinkConnector.problems(given)[option] == [sentence]


def test_an_unknown_format_is_told_with_those_that_there_are(spark: SparkSession) -> None:
    for connector in (SparkSourceConnector, SparkSinkConnector):
        (sentence,) = connector.problems({"format": "nope", "topic": "t"})["format"]
        assert "The session has no such data source; it has binaryFile, console, csv, delta, " in sentence
    assert "format" not in SparkSourceConnector.problems({"format": "tests.spark_formats.counting.Counting", "topic": "t"})


def test_a_worker_names_the_formats_whose_jars_it_wants() -> None:
    assert [extra.jars for extra in requested_formats({FORMATS: "delta, postgresql"})] == ["delta", "postgresql"]
    with pytest.raises(ConfigError, match="It has to be some of delta, postgresql"):
        requested_formats({FORMATS: "oracle"})


@pytest.mark.parametrize(
    ("config", "partition", "offset", "sentence"),
    [
        ({"format": "json", "option.path": "p"}, {"format": "json"}, None, "should contain the key 'path'"),
        ({"format": "json", "option.path": "p"}, {"format": "json", "path": "p"}, {"modified": "x"}, "'modified' key"),
        ({"format": "jdbc", "mode": "incrementing", "incrementing.column.name": "id", "option.url": "u", "option.dbtable": "t"},
         {"table": "t"}, {"incrementing": "7"}, "'incrementing' key"),
        ({"format": "rate", "mode": "bulk"}, {}, None, "there are none"),
    ],
)  # fmt: skip
def test_impossible_offsets_are_refused(config: dict, partition: dict, offset: dict | None, sentence: str) -> None:
    with pytest.raises(ConnectError, match=sentence):
        SparkSourceConnector.alter_offsets({"topic": "t", **config}, [(partition, offset)])


def test_the_path_may_be_given_in_any_case() -> None:
    task = SparkSourceConnector.task_for(props := {"format": "json", "option.Path": "/in", "topic": "t"})(TaskContext("c", 0))
    task.start(props)
    assert task.partitions() == [{"format": "json", "path": "/in"}]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jdbc:sqlserver://db;user=sa;password=Geheim", "jdbc:sqlserver://db;user=sa;password=[hidden]"),
        ("jdbc:oracle:thin:scott/tiger@//db:1521/x", "jdbc:oracle:thin:[hidden]@//db:1521/x"),
        ("jdbc:mysql://db/x?user=sa&password=Geheim", "jdbc:mysql://db/x"),
    ],
)
def test_a_url_without_driver_is_told_without_its_password(url: str, shown: str) -> None:
    assert str(no_driver(url)).startswith(f"Invalid value {shown} for configuration option.url: There is no JDBC driver")


def test_an_update_needs_columns_beside_its_key() -> None:
    props = {"format": "jdbc", "option.url": "jdbc:postgresql:x", "option.dbtable": "t", "insert.mode": "update"}
    problems = SparkSinkConfig.all_problems({**props, "pk.mode": "record_value"})
    assert "nothing to change" in problems["pk.fields"][0]
    assert not SparkSinkConfig.all_problems({**props, "pk.mode": "record_value", "pk.fields": "id"})


def test_a_database_without_what_a_stage_needs_is_told_without_its_password() -> None:
    props = {"format": "jdbc", "option.url": "jdbc:sqlserver://db;password=Geheim", "option.dbtable": "t"}
    with pytest.raises(ConfigError, match=r"Invalid value jdbc:sqlserver://db;password=\[hidden\] for configuration option\.url"):
        SparkSinkConfig(props)
