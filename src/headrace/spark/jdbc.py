"""Databases through Spark's JDBC dialects: operations that Spark's reader and writer do not have.

Connections and dialects are Spark's objects in the driver's JVM; rows do not pass through Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from headrace.config.secrets import without_logins
from headrace.errors import ConfigError
from headrace.spark import formats
from headrace.spark.optional_jars import FORMATS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Database:
    """A database by the options of Spark's JDBC source: `url`, `user`, `password` and so on."""

    def __init__(self, spark: SparkSession, options: Mapping[str, str]) -> None:
        """options: case of names does not matter. Raises ConfigError if there is no driver for the URL."""
        self._spark = spark
        self.url = formats.option(options, "url") or ""
        self.options = {k: v for k, v in options.items() if k.lower() not in ("dbtable", "query")}
        if not any(name.lower() == "driver" for name in options):
            self.options["driver"] = driver(spark, self.url)
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.url)

    def table(self, name: str) -> DataFrame:
        """The rows of a table, or of a subquery with an alias."""
        return self._spark.read.format("jdbc").options(**self.options).option("dbtable", name).load()

    def quoted(self, name: str) -> str:
        """A quoted identifier in the database's dialect."""
        return self._dialect.quoteIdentifier(name)

    def first(self, table: str, columns: Sequence[str], count: int) -> str:
        """The SQL text, in the database's dialect, of the first rows of a table or subquery, ordered by these columns."""
        builder = self._dialect.getJdbcSQLQueryBuilder(self._jdbc_options(table))
        builder = builder.withColumns(self._array(columns)).withSortOrders(self._array([f"{c} ASC" for c in columns]))
        return builder.withLimit(count).build()

    def timestamp(self, micros: int) -> str:
        """The SQL text of a time (microseconds since the epoch), in the JVM's zone, in which drivers read and write times."""
        time = self._jvm.java.sql.Timestamp(micros // 1000)
        time.setNanos(micros % 1_000_000 * 1000)
        return f"{{ts '{time.toString()}'}}"

    def exists(self, connection: Any, table: str) -> bool:
        """Whether there is a table of this name."""
        return self._jvm.org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils.tableExists(
            connection, self._jdbc_options(table, "JdbcOptionsInWrite")
        )

    def create(self, transaction: Transaction, table: str, rows: DataFrame) -> None:
        """Make a table with the columns of these rows, in the types of the dialect. Raises Py4JJavaError."""
        utils = self._jvm.org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils
        case_sensitive = self._spark.conf.get("spark.sql.caseSensitive") == "true"
        options = self._jdbc_options(table, "JdbcOptionsInWrite")
        java_rows: Any = rows._jdf
        utils.createTable(transaction.connection, table, java_rows.schema(), case_sensitive, options)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A connection of the driver's JVM: committed at the end, rolled back if something is raised. Raises Py4JJavaError."""
        connection = self._dialect.createConnectionFactory(self._jdbc_options("none")).apply(-1)
        try:
            connection.setAutoCommit(False)
            try:
                yield Transaction(connection)
                connection.commit()
            except BaseException:
                with suppress(Exception):  # of a connection that is lost
                    connection.rollback()  # `close` leaves it to the driver: Oracle's commits
                raise
        finally:
            connection.close()

    def _jdbc_options(self, table: str, kind: str = "JDBCOptions") -> Any:
        options = self._jvm.PythonUtils.toScalaMap({**self.options, "dbtable": table})
        return getattr(self._jvm.org.apache.spark.sql.execution.datasources.jdbc, kind)(options)

    def _array(self, texts: Sequence[str]) -> Any:
        gateway: Any = self._spark.sparkContext._gateway
        array = gateway.new_array(self._jvm.java.lang.String, len(texts))
        for i, text in enumerate(texts):
            array[i] = text
        return array


def driver(spark: SparkSession, url: str) -> str:
    """The class of the JDBC driver for this URL, from the session's jars, where Spark itself does not search.

    Raises ConfigError, with the remedy, if there is none.
    """
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    drivers = jvm.java.util.ServiceLoader.load(jvm.java.lang.Class.forName("java.sql.Driver", True, loader), loader).iterator()
    while drivers.hasNext():
        driver = drivers.next()
        if driver.acceptsURL(url):
            return driver.getClass().getName()
    raise no_driver(url)


def no_driver(url: str) -> ConfigError:
    """The error of a URL for which there is no driver, with the remedy; passwords in the URL are hidden."""
    remedy = f"add postgresql to {FORMATS}" if url.startswith("jdbc:postgresql:") else "name its jar in spark.jars"
    shown = without_logins(url).partition("?")[0]
    return ConfigError.invalid("option.url", shown, f"There is no JDBC driver for it: {remedy} of the worker")


class Transaction:
    """Statements on one connection."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def execute(self, sql: str) -> int:
        """Run a statement; returns how many rows it changed."""
        statement = self.connection.createStatement()
        try:
            statement.setEscapeProcessing(False)
            return statement.executeUpdate(sql)
        finally:
            statement.close()

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        statement = self.connection.createStatement()
        try:
            about = statement.executeQuery(f"SELECT * FROM {table} WHERE 1 = 0").getMetaData()
            return [about.getColumnName(i + 1) for i in range(about.getColumnCount())]
        finally:
            statement.close()
