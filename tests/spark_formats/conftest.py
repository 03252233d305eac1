"""One PostgreSQL server for all tests of formats, and what they do with data sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from headrace.spark.jdbc import Database
from tests.spark_formats.postgres import Postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server


@pytest.fixture
def sql(postgres: Postgres, spark: SparkSession) -> Sql:
    return statements(postgres.url, spark)


def statements(url: str, spark: SparkSession) -> Sql:
    """Runs statements, separated by `;`, and gives the rows of a query."""

    def run(text: str) -> list[tuple[Any, ...]]:
        database = Database(spark, {"url": url, "user": "postgres"})
        if text.lower().startswith("select"):
            return [tuple(row) for row in database.table(f"({text}) q").collect()]
        with database.transaction() as transaction:
            for statement in filter(str.strip, text.split(";")):
                transaction.execute(statement)
        return []

    return run
