"""Debezium's JDBC sink, as it is released, into a real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.support import wait_until

CONNECTOR = "io.debezium.connector.jdbc.JdbcSinkConnector"
TYPES = {int: "int32", str: "string"}


def with_schema(row: dict[str, Any] | None) -> bytes | None:
    """A row as Kafka's JSON converter writes it; None is a tombstone."""
    if row is None:
        return None
    fields = [{"field": name, "type": TYPES[type(value)], "optional": name != "id"} for name, value in row.items()]
    return json.dumps({"schema": {"type": "struct", "fields": fields, "optional": False}, "payload": row}).encode()


def change(id: int, row: dict[str, Any] | None) -> Sent:
    return record(with_schema({"id": id}), with_schema(row))


def test_rows_are_upserted_and_deleted_and_a_new_column_is_added(
    connector: Callable[..., Deployed], cluster: Cluster, postgres: Postgres, sql: Sql, topic_name: Callable[[str], str]
):
    topic = topic_name("jdbc")
    cluster.create(topic)
    cluster.produce(topic, [change(1, {"id": 1, "item": "a"}), change(2, {"id": 2, "item": "b"})])
    sink = connector(
        CONNECTOR, topics=topic, connection_url=f"jdbc:postgresql://127.0.0.1:{postgres.port}/postgres",
        connection_username="postgres", connection_password="hunter2", insert_mode="upsert", delete_enabled="true",
        primary_key_mode="record_key", schema_evolution="basic", collection_name_format="copied",
        key_converter_schemas_enable="true", key_converter="org.apache.kafka.connect.json.JsonConverter",
        value_converter_schemas_enable="true", value_converter="org.apache.kafka.connect.json.JsonConverter",
        **{"consumer.override.metadata.max.age.ms": "5000"},
    )  # fmt: skip

    def copied(columns: str = "id, item") -> list[Any]:
        if not sql("select 1 from information_schema.tables where table_name = 'copied'"):
            return []
        return [tuple(row) for row in sql(f"select {columns} from copied order by id")]

    wait_until(lambda: copied() == [(1, "a"), (2, "b")], CONNECTOR_S, lambda: f"{copied()} {sink.status()}")
    cluster.produce(topic, [change(1, {"id": 1, "item": "c", "size": 7}), change(2, None)])
    wait_until(lambda: copied("id, item") == [(1, "c")], CONNECTOR_S, lambda: f"{copied()} {sink.status()}")
    assert copied("id, item, size") == [(1, "c", 7)]
    sink.put("stop")
    sink.await_states("STOPPED")
    found = sink.worker.call("GET", sink.path + "/offsets")["offsets"]
    assert [one["offset"]["kafka_offset"] for one in found] == [4]
