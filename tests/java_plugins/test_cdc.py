"""The commands of docs/cdc.md run as they stand: PostgreSQL, Debezium, a topic, Delta Lake and another table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.embedded import Broker
from headrace.spark.jdbc import Database
from headrace.testing.worker import EmbeddedWorker
from tests.cli.command import PLAIN
from tests.docs.test_tutorials import check, commands
from tests.java_plugins import psql
from tests.spark_formats.conftest import Sql, statements
from tests.spark_formats.postgres import Postgres
from tests.support import quick_java

PAGE = Path(__file__).parents[2] / "docs" / "cdc.md"


def test_the_commands_of_the_page_run_and_print_what_it_says(
    java_worker: EmbeddedWorker, destination_broker: Broker, postgres: Postgres, spark: SparkSession, tmp_path: Path
) -> None:
    path = commands(tmp_path / "bin", {"headrace": "-m headrace.cli", "psql": psql.__file__})
    environ = {
        **quick_java(), **PLAIN, "PATH": path, "PYTHONPATH": str(Path(__file__).parents[2]),
        "KAFKA": destination_broker.bootstrap, "HEADRACE_URL": java_worker.url.rstrip("/"),
        "PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "postgres", "PGPASSWORD": "any", "PGDATABASE": "postgres",
        "PSQL_SOCKET": str(tmp_path / "psql"),
    }  # fmt: skip

    def sql_in(database: str) -> Sql:
        run = statements(postgres.url.replace("/postgres", f"/{database}"), spark)
        return lambda text: create_database(text) if text.startswith("CREATE DATABASE") else run(text)

    def create_database(text: str) -> list[Any]:
        with Database(spark, {"url": postgres.url, "user": "postgres"}).transaction() as outside:
            outside.connection.setAutoCommit(True)
            outside.execute(text)
            outside.connection.setAutoCommit(False)
        return []

    with psql.answering(tmp_path / "psql", sql_in):
        check(PAGE, environ, tmp_path)
    lake = spark.read.format("delta").load(str(tmp_path / "lake"))
    assert sorted(map(tuple, lake.select("id", "name", "city").collect())) == [(1, "Ada", "Thun"), (3, "Lena", "Chur")]
