"""Databases and their tables as OpenLineage's naming conventions call datasets: a namespace and a name. Pure.

A table is named only where the configuration and the active topics say which it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

Config = Mapping[str, str | None]
_SCHEMES = {"postgresql": "postgres", "sqlserver": "mssql"}
_PORTS = {"postgres": 5432, "mysql": 3306, "mariadb": 3306, "mssql": 1433, "oracle": 1521, "db2": 50000}
_SCHEMAS = {"postgres": "public", "mssql": "dbo"}
"""In which a table is whose name has none before it."""
_DEBEZIUM = "io.debezium.connector."
_DEFAULT_STRATEGIES = ("", "io.debezium.schema.SchemaTopicNamingStrategy", "io.debezium.schema.DefaultTopicNamingStrategy")


@dataclass(frozen=True)
class NamedDatabase:
    """A database, or a server with several."""

    namespace: str
    """`postgres://host:port`; without users, passwords and other parameters."""
    name: str | None = None
    """None: the names of its tables have it."""

    def table(self, name: str) -> str:
        """The name of the dataset; name: of a table, where the database has schemas with or without one before it."""
        schema = _SCHEMAS.get(self.namespace.partition("://")[0])
        full = f"{schema}.{name}" if schema and "." not in name else name
        return f"{self.name}.{full}" if self.name else full


def of_jdbc(url: str) -> NamedDatabase | None:
    """The database of a JDBC address such as `jdbc:postgresql://host:port/name`; None: the address names no server."""
    text = re.sub(r"^oracle:thin:[^@]*@(?:tcps?:)?/*", "oracle://", url.removeprefix("jdbc:"))
    text = re.sub(r"^(oracle://[^/:]+:\d+):", r"\1/", text)  # a SID
    address, *parameters = text.split(";")
    parts = urlsplit(address)  # parameters are after a semicolon, a question mark, or, of Db2, a colon
    server = parts.netloc.rpartition("@")[2]
    if not url.startswith("jdbc:") or not server or server.startswith("("):  # a description of Oracle may have several servers
        return None
    named = next((parameter.partition("=")[2] for parameter in parameters if parameter.lower().startswith("databasename=")), None)
    return NamedDatabase(_namespace(parts.scheme, server), named or parts.path.strip("/").partition(":")[0] or None)


def _namespace(scheme: str, host: str) -> str:
    """With the port that the database listens at by default, where none is given: it is part of the name."""
    scheme = _SCHEMES.get(scheme, scheme)
    return f"{scheme}://{host}" + (f":{_PORTS[scheme]}" if scheme in _PORTS and not re.search(r":\d+$", host) else "")


@dataclass(frozen=True)
class _Captured:
    """How a connector of Debezium names its topics."""

    scheme: str
    parts: int
    """Of the name of a table, between the dots after the prefix of a topic."""
    database: str | None
    """The setting with the database that these parts do not have."""


_CONNECTORS = {
    "postgresql.PostgresConnector": _Captured("postgres", 2, "database.dbname"),
    "mysql.MySqlConnector": _Captured("mysql", 2, None),
    "mariadb.MariaDbConnector": _Captured("mariadb", 2, None),
    "sqlserver.SqlServerConnector": _Captured("mssql", 3, None),
    "oracle.OracleConnector": _Captured("oracle", 2, "database.dbname"),
    "db2.Db2Connector": _Captured("db2", 2, "database.dbname"),
}


def captured_by(connector_class: str, config: Config) -> NamedDatabase | None:
    """The database that a connector of Debezium reads; None: another class, or its configuration does not say."""
    how, host = _CONNECTORS.get(connector_class.removeprefix(_DEBEZIUM)), config.get("database.hostname")
    if how is None or not host:
        return None
    port = config.get("database.port") or _PORTS[how.scheme]
    name = (config.get("database.pdb.name") or config.get(how.database)) if how.database else None
    database = NamedDatabase(f"{how.scheme}://{host}:{port}", name)
    return None if "${" in f"{database}" or (how.database and not name) else database  # a placeholder names nothing


def captured_table(connector_class: str, config: Config, topic: str) -> str | None:
    """The name of the dataset that a topic of such a connector has the changes of.

    None: the name of the topic does not say, as with a naming strategy of one's own, or for heartbeats and transactions. A
    character of a table's name that a topic cannot have is an underscore, as Debezium writes it.
    """
    database = captured_by(connector_class, config)
    prefix, delimiter = _prefix(config)
    if database is None or (config.get("topic.naming.strategy") or "") not in _DEFAULT_STRATEGIES:
        return None
    parts = topic.removeprefix(prefix).split(delimiter)
    if not topic.startswith(prefix) or len(parts) != _CONNECTORS[connector_class.removeprefix(_DEBEZIUM)].parts:
        return None
    return database.table(".".join(parts))


def without_table(config: Config, topic: str) -> bool:
    """Whether such a connector writes heartbeats, ends of transactions or changes of the schema to a topic."""
    prefix, delimiter = _prefix(config)
    transactions = prefix + (config.get("topic.transaction") or "transaction")
    heartbeats = config.get("topic.heartbeat.prefix") or "__debezium-heartbeat"
    return topic in (prefix.removesuffix(delimiter), transactions) or topic.startswith(f"{heartbeats}{delimiter}")


def _prefix(config: Config) -> tuple[str, str]:
    """What the names of its topics begin with, and what is between their parts."""
    delimiter = config.get("topic.delimiter") or "."
    return f"{config.get('topic.prefix')}{delimiter}", delimiter


# ------------------------------------------------------------------------------------------------- sinks
_JDBC_SINK, _DEBEZIUM_MONGO_SINK = _DEBEZIUM + "jdbc.JdbcSinkConnector", _DEBEZIUM + "mongodb.MongoDbSinkConnector"
_MONGO_SINK = "com.mongodb.kafka.connect.MongoSinkConnector"
_SINK_STRATEGIES = (
    "", "io.debezium.sink.naming.DefaultCollectionNamingStrategy", "io.debezium.connector.jdbc.naming.DefaultTableNamingStrategy",
)  # fmt: skip
_DEFAULT_MAPPER = "com.mongodb.kafka.connect.sink.namespace.mapping.DefaultNamespaceMapper"
_FOLDED = {"postgres": str.lower, "oracle": str.upper, "db2": str.upper}
"""What becomes of the name of a table that is not quoted."""


def written_by(connector_class: str, config: Config) -> NamedDatabase | None:
    """The database that a sink in Java writes to; None: another class, or its configuration does not say.

    Of Debezium's sinks for JDBC and MongoDB, and of MongoDB's own.
    """
    if connector_class == _JDBC_SINK:
        location = of_jdbc(config.get("connection.url") or "")
    else:
        address, name = {
            _DEBEZIUM_MONGO_SINK: ("mongodb.connection.string", "sink.database"),
            _MONGO_SINK: ("connection.uri", "database"),
        }.get(connector_class, ("", ""))
        location = _of_mongodb(config.get(address) or "", config.get(name))
    return None if location is None or "${" in f"{location}" else location  # a placeholder names nothing


def _of_mongodb(address: str, database: str | None) -> NamedDatabase | None:
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].partition(",")[0]  # of a replica set the first one that is named
    if parts.scheme not in ("mongodb", "mongodb+srv") or not host or not database:
        return None
    return NamedDatabase(f"{parts.scheme}://{host}" + ("" if "+" in parts.scheme or ":" in host else ":27017"), database)


def written_table(connector_class: str, config: Config, topic: str) -> str | None:
    """The name of the dataset that such a sink writes the records of a topic to; None: its configuration does not say."""
    database = written_by(connector_class, config)
    if database is None:
        return None
    if connector_class == _MONGO_SINK:
        return _mongodb_collection(database, config, topic)
    strategy = config.get("collection.naming.strategy") or config.get("table.naming.strategy") or ""
    form = config.get("collection.name.format") or config.get("table.name.format") or "${topic}"
    name = form.replace("${topic}", topic.replace(".", "_"))
    if strategy not in _SINK_STRATEGIES or "${" in name:  # a field of the record names the table
        return None
    folded = _FOLDED.get(database.namespace.partition("://")[0]) if config.get("quote.identifiers", "false") != "true" else None
    return database.table(folded(name) if folded else name)


def _mongodb_collection(database: NamedDatabase, config: Config, topic: str) -> str | None:
    override = f"topic.override.{topic}."
    mapper = config.get(f"{override}namespace.mapper") or config.get("namespace.mapper") or _DEFAULT_MAPPER
    name = config.get(f"{override}database") or database.name
    collection = config.get(f"{override}collection") or config.get("collection") or topic
    return None if mapper != _DEFAULT_MAPPER or "${" in f"{name}{collection}" else f"{name}.{collection}"
