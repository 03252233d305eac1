"""Debezium's PostgreSQL connector, as it is released, against a real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import CONNECTOR_S, Deployed
from tests.spark_formats.conftest import Sql
from tests.spark_formats.postgres import Postgres
from tests.support import wait_until

CONNECTOR = "io.debezium.connector.postgresql.PostgresConnector"


def settings(server: Postgres, prefix: str) -> dict[str, str]:
    """Of a connector for the table `orders`; the server takes any password."""
    slot = prefix.replace("-", "_")
    return {
        "database.hostname": "127.0.0.1", "database.port": str(server.port), "database.user": "postgres",
        "database.password": "hunter2", "database.dbname": "postgres", "topic.prefix": prefix,
        "table.include.list": "public.orders", "plugin.name": "pgoutput", "slot.name": slot, "publication.name": slot,
        "publication.autocreate.mode": "filtered",
    }  # fmt: skip


def changes(cluster: Cluster, topic: str, count: int) -> list[dict[str, Any]]:
    """The first changes in a topic, once there are so many."""
    wait_until(lambda: cluster.size(topic) >= count, CONNECTOR_S, lambda: f"{count} changes, not {cluster.size(topic)}")
    return [json.loads(r.value or b"null") for r in cluster.read(topic)]


def test_a_table_is_copied_and_followed_across_a_restart_and_its_log_is_released(
    connector: Callable[..., Deployed],
    cluster: Cluster,
    postgres: Postgres,
    sql: Sql,
    topic_name: Callable[[str], str],
):
    prefix = topic_name("debezium")
    topic = f"{prefix}.public.orders"
    sql("create table orders (id int primary key, item text); insert into orders values (1, 'a'), (2, 'b')")
    source = connector(CONNECTOR, **settings(postgres, prefix))
    assert [(c["op"], c["after"]) for c in changes(cluster, topic, 2)] == [
        ("r", {"id": 1, "item": "a"}), ("r", {"id": 2, "item": "b"}),
    ]  # fmt: skip

    def confirmed() -> str:
        return sql(f"select confirmed_flush_lsn::text from pg_replication_slots where slot_name = '{prefix.replace('-', '_')}'")[
            0
        ][0]

    before = confirmed()
    sql("insert into orders values (3, 'c')")
    sql("update orders set item = 'd' where id = 1")
    assert [c["op"] for c in changes(cluster, topic, 4)] == ["r", "r", "c", "u"]
    source.restart("?includeTasks=true")
    sql("delete from orders where id = 2")
    found = changes(cluster, topic, 6)  # a delete and its tombstone
    assert [c and c["op"] for c in found] == ["r", "r", "c", "u", "d", None]
    sql("insert into orders values (4, 'e')")
    changes(cluster, topic, 7)
    wait_until(lambda: confirmed() != before, CONNECTOR_S, f"the slot to advance from {before}")


def test_a_new_column_is_in_the_changes_after_it(
    connector: Callable[..., Deployed], cluster: Cluster, postgres: Postgres, sql: Sql, topic_name: Callable[[str], str]
):
    prefix = topic_name("evolving")
    table = prefix.replace("-", "_")
    sql(f"create table {table} (id int primary key, item text); insert into {table} values (1, 'a')")
    settings_of = {**settings(postgres, prefix), "table.include.list": f"public.{table}"}
    json_with_schemas = {
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "true",
    }
    connector(CONNECTOR, **settings_of, **json_with_schemas, transforms="copy", transforms_copy_type="ExtractNewRecordState")
    topic = f"{prefix}.public.{table}"
    changes(cluster, topic, 1)
    sql(f"alter table {table} add column price numeric(5,2)")
    sql(f"insert into {table} values (2, 'b', 9.50)")
    found = changes(cluster, topic, 2)
    assert [c["payload"]["item"] for c in found] == ["a", "b"]
    assert [[field["field"] for field in c["schema"]["fields"]] for c in found] == [["id", "item"], ["id", "item", "price"]]


def test_the_connector_itself_checks_its_database(java_worker: EmbeddedWorker, postgres: Postgres):
    config = {"name": "c", "connector.class": CONNECTOR, **settings(postgres, "check"), "database.port": "1"}
    answer = java_worker.call("PUT", f"/connector-plugins/{CONNECTOR}/config/validate", config)
    values = {c["value"]["name"]: c["value"] for c in answer["configs"] if c["value"]}
    assert values["database.hostname"]["errors"][0].startswith(
        "Error while validating connector config: Connection to 127.0.0.1:1"
    )
    assert "hunter2" not in json.dumps(answer)
