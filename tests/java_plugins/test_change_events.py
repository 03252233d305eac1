"""headrace's own sinks by key take Debezium's change events as they are, through a worker (`envelope=debezium`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.test_debezium_jdbc import with_schema
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.support import wait_until

Row = dict[str, Any] | None
JSON = {f"{part}.converter": "org.apache.kafka.connect.json.JsonConverter" for part in ("key", "value")}
JSON |= {f"{part}.converter.schemas.enable": "true" for part in ("key", "value")}
COLUMNS = [{"field": "id", "type": "int32", "optional": False}, {"field": "city", "type": "string", "optional": True}]
FIELDS = [
    {"field": "before", "type": "struct", "optional": True, "name": "t.Value", "fields": COLUMNS},
    {"field": "after", "type": "struct", "optional": True, "name": "t.Value", "fields": COLUMNS},
    {"field": "source", "type": "struct", "optional": False, "fields": [{"field": "lsn", "type": "int64", "optional": True}]},
    {"field": "op", "type": "string", "optional": False},
    {"field": "ts_ms", "type": "int64", "optional": True},
]


def event(op: str, before: Row, after: Row) -> Sent:
    """A change of a row, in Debezium's form; with its key."""
    schema = {"type": "struct", "optional": False, "name": "t.Envelope", "fields": FIELDS}
    payload = {"before": before, "after": after, "source": {"lsn": 7}, "op": op, "ts_ms": 1}
    return record(key((after or before or {})["id"]), json.dumps({"schema": schema, "payload": payload}).encode())


def key(id: int) -> bytes | None:
    return with_schema({"id": id})


def row(id: int, city: str | None) -> Row:
    return {"id": id, "city": city}


SNAPSHOT = [event("r", None, row(1, "Bern")), event("r", None, row(2, "Basel")), event("r", None, row(3, None))]
CHANGES = [
    event("u", row(1, "Bern"), row(1, "Thun")),
    event("c", None, row(4, "Chur")),
    event("d", row(2, "Basel"), None), record(key(2), None),  # with a tombstone
    event("d", row(3, None), None),  # without
    event("d", row(4, "Chur"), None), record(key(4), None), event("c", None, row(4, "Sion")),  # and is there again
    event("u", None, row(5, "Visp")),  # of a row that the sink has not seen
]  # fmt: skip
BEFORE, AFTER = [(1, "Bern"), (2, "Basel"), (3, None)], [(1, "Thun"), (4, "Sion"), (5, "Visp")]


@pytest.mark.parametrize("format", ["jdbc", "delta"])
def test_snapshots_and_changes_of_every_kind_make_the_tables_rows(
    connector: Callable[..., Deployed], cluster: Cluster, topic_name: Callable[[str], str], spark: SparkSession,
    postgres: Postgres, sql: Sql, tmp_path: Path, format: str,
):  # fmt: skip
    topic, letters = topic_name("events"), topic_name("letters")
    path, table = tmp_path / "lake", topic.replace("-", "_")
    cluster.create(topic)
    cluster.produce(topic, SNAPSHOT)
    target = {"option.path": str(path)}
    if format == "jdbc":
        sql(f"CREATE TABLE {table} (id INT PRIMARY KEY, city TEXT)")
        target = {"option.url": postgres.url, "option.user": "postgres", "option.dbtable": table}

    def rows() -> list[Any]:
        if format == "jdbc":
            return sorted(sql(f"SELECT id, city FROM {table}"))
        found = spark.read.format("delta").load(str(path)) if any(path.glob("_delta_log/*.json")) else None
        return [] if found is None else sorted(map(tuple, found.select("id", "city").collect()))

    sink = connector(
        "SparkSink", topics=topic, format=format, envelope="debezium", insert_mode="upsert", pk_mode="record_key",
        errors_tolerance="all", errors_deadletterqueue_topic_name=letters,
        errors_deadletterqueue_topic_replication_factor="1", errors_deadletterqueue_context_headers_enable="true",
        **JSON, **target, **{"delete.enabled": "true"},
    )  # fmt: skip
    wait_until(lambda: rows() == BEFORE, CONNECTOR_S, lambda: f"{rows()} {sink.status()}")
    cluster.produce(topic, [record(key(6), with_schema({"id": 6, "city": "Brig"})), *CHANGES])
    wait_until(lambda: rows() == AFTER, CONNECTOR_S, lambda: f"{rows()} {sink.status()}")
    (letter,) = cluster.read(letters)
    message = dict(letter.headers)["__connect.errors.exception.message"]
    assert message == b"The value is no change event of Debezium: it has no field op"
