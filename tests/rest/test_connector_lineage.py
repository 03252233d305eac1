"""What a connector reads and writes, as far as it says so, and on which cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from openlineage.client.naming.dataset import DB2, DatasetNaming, MySQL, Oracle, Postgres

from headrace.connect_config.cluster_names import ClusterNames
from headrace.rest.connector_lineage import keeps_topics, of_connector
from headrace.rest.database_names import of_jdbc
from headrace.rest.lineage import Lineage, LineageNode, joined
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder

SMT, DEBEZIUM = "org.apache.kafka.connect.transforms.", "io.debezium.connector."
MIRROR = {"connector.class": "KafkaSourceConnector", "source.bootstrap.servers": "eu:9092",
          "source.topic.whitelist": ".*"}  # fmt: skip
CLUSTERS = ClusterNames("SSL://here:9092,here2:9092", ["PLAINTEXT://eu:9092", "eu:9092,eu2:9092", "eu2:9092"])
ROUTER = {"transforms": "r", "transforms.r.type": SMT + "RegexRouter",
          "transforms.r.regex": ".*", "transforms.r.replacement": "x"}  # fmt: skip
POSTGRES = {
    "connector.class": DEBEZIUM + "postgresql.PostgresConnector", "topic.prefix": "cdc", "database.hostname": "db",
    "database.dbname": "shop", "database.password": "s3cret",
}  # fmt: skip


def connector(name: str, state: str = "RUNNING") -> LineageNode:
    return LineageNode(f"connector:{name}", "connector", name, state=state)


def graph_of(
    node: LineageNode, kind: str, config: dict[str, str], topics: dict[str, int], partitions: Iterable[Any] = ()
) -> Lineage:
    return of_connector(node, kind, config, topics, partitions, CLUSTERS)


def made_of(kind: str, config: Mapping[str, str], topics: Iterable[str], partitions: Iterable[Any] = ()) -> dict[str, list[str]]:
    found = of_connector(connector("c"), kind, config, dict.fromkeys(topics, 1), partitions, CLUSTERS).made_of
    return {target: list(sources) for (_, target), sources in found.items()}


def flows(graph: Lineage) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in graph.edges}


def origins(config: Mapping[str, str], *topics: str) -> set[tuple[str, str, str | None]]:
    """What a source that writes these topics reads: kind, name and place."""
    graph = of_connector(connector("c"), "source", config, dict.fromkeys(topics, 1), [{"server": "cdc"}], CLUSTERS)
    read = {edge.source for edge in graph.edges if edge.target == "connector:c"}
    return {(node.kind, node.name, node.place) for node in graph.nodes if node.id in read}


ALL = joined(
    [
        graph_of(connector("mirror"), "source", MIRROR, {"copy.a": 5}, [{"topic:partition": "a:0"}, {"topic:partition": "a:1"}]),
        graph_of(connector("mm"), "source", {}, {"eu.b": 6}, [{"cluster": "eu", "partition": 0, "topic": "b"}]),
        graph_of(connector("sink", "FAILED"), "sink", {"file": "/out"}, {"copy.a": 7, "eu.b": 8}),
        graph_of(connector("file"), "source", {"file": "/in"}, {"lines": 9}, [{"filename": "/in"}]),
    ]
)


def test_source_partitions_and_topics_in_use_are_joined_by_their_connectors():
    assert flows(ALL) == {
        ("topic:eu:9092/a", "connector:mirror"), ("connector:mirror", "topic:copy.a"),
        ("topic:eu/b", "connector:mm"), ("connector:mm", "topic:eu.b"),
        ("topic:copy.a", "connector:sink"), ("topic:eu.b", "connector:sink"), ("connector:sink", "external:/out"),
        ("external:/in", "connector:file"), ("connector:file", "topic:lines"),
    }  # fmt: skip
    assert {edge.since_ms for edge in ALL.edges if edge.target == "topic:copy.a"} == {5}


def test_a_mirror_that_reads_what_another_connector_writes_is_joined_to_it_by_the_topic_however_the_cluster_is_written():
    own = {**MIRROR, "source.bootstrap.servers": "here2:9092"}
    there = {"connector.class": "KafkaSink", "target.bootstrap.servers": "eu2:9092", "destination.topics.prefix": "p."}
    back = {"connector.class": "MirrorSourceConnector", "source.cluster.alias": "eu",
            "source.cluster.bootstrap.servers": "SASL_SSL://eu:9092"}  # fmt: skip
    graph = joined([
        graph_of(connector("file"), "source", {"file": "/in"}, {"lines": 1}, [{"filename": "/in"}]),
        graph_of(connector("mirror"), "source", own, {"copy.lines": 1}, [{"topic:partition": "lines:0"}]),
        graph_of(connector("away"), "sink", there, {"copy.lines": 1}),
        graph_of(connector("back"), "source", back, {"eu.p.copy.lines": 1}, [{"cluster": "eu", "topic": "p.copy.lines"}]),
    ])  # fmt: skip
    assert {node.id for node in graph.reached(["external:/in"]).nodes} == {
        "external:/in", "connector:file", "topic:lines", "connector:mirror", "topic:copy.lines", "connector:away",
        "topic:eu:9092/p.copy.lines", "connector:back", "topic:eu.p.copy.lines",
    }  # fmt: skip


def test_what_a_connector_writes_to_or_reads_from_a_cluster_of_its_own_is_there():
    source = {"file": "/in", "producer.override.bootstrap.servers": "eu:9092"}
    sink = {"file": "/out", "consumer.override.bootstrap.servers": "eu2:9092", "producer.override.bootstrap.servers": "x:1"}
    assert ("connector:a", "topic:eu:9092/t") in flows(graph_of(connector("a"), "source", source, {"t": 1}))
    assert ("topic:eu:9092/t", "connector:b") in flows(graph_of(connector("b"), "sink", sink, {"t": 1}))


def test_lists_of_servers_that_a_third_shows_to_be_of_one_cluster_have_one_name():
    names = ClusterNames("w:1", ["a:1", "b:1", "c:1", "b:1,a:1", "c:1,w:1"])
    assert names.place("a:1") == names.place("b:1") == "a:1"
    assert names.place("c:1") is None and names.place(None) is None and names.place("SSL://other:1") == "other:1"


@pytest.mark.parametrize(
    ("url", "naming", "table"),
    [
        ("jdbc:postgresql://u:s3cret@db:5432/shop?password=s3cret", Postgres("db", "5432", "shop", "public", "o"), "o"),
        ("jdbc:postgresql://db/shop", Postgres("db", "5432", "shop", "s", "o"), "s.o"),
        ("jdbc:mysql://db/shop?x=1", MySQL("db", "3306", "shop", "o"), "o"),
        ("jdbc:oracle:thin:u/s3cret@//db:1521/xe", Oracle("db", "1521", "xe", "S", "O"), "S.O"),
        ("jdbc:oracle:thin:@db:1521:ORCL", Oracle("db", "1521", "ORCL", "S", "O"), "S.O"),
        ("jdbc:oracle:thin:@tcps://db:2484/xe", Oracle("db", "2484", "xe", "S", "O"), "S.O"),
        ("jdbc:db2://db:50000/shop:user=x;", DB2("db", "50000", "shop", "S", "O"), "S.O"),
    ],
)
def test_tables_have_the_names_that_openlineages_client_gives_them_without_passwords(url: str, naming: DatasetNaming, table: str):
    database = of_jdbc(url)
    assert database and (database.namespace, database.table(table)) == (naming.get_namespace(), naming.get_name())
    config = {"option.dbtable": table, "option.url": url}
    read, written = (graph_of(connector("rows"), kind, config, {"orders": 1}) for kind in ("source", "sink"))
    assert (f"external:{naming.get_namespace()}/{naming.get_name()}", "connector:rows") in flows(read)
    assert "s3cret" not in str(read) and any(target.startswith("external:") for _, target in flows(written))


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"option.dbtable": "(SELECT id FROM o WHERE pin = 's3cret') AS o", "option.url": "jdbc:postgresql://db/shop"}, "postgres://db:5432"),
        ({"option.dbtable": "O", "option.sfURL": "x.snowflakecomputing.com"}, None),
        ({"option.dbtable": "O", "option.url": "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=db)(PORT=1521)))"}, None),
    ],
)  # fmt: skip
def test_a_query_or_a_database_without_an_address_is_not_known(config: dict[str, str], place: str | None):
    read, written = (graph_of(connector("rows"), kind, config, {"orders": 1}) for kind in ("source", "sink"))
    assert ("unknown:rows", "connector:rows") in flows(read) and ("connector:rows", "unknown:rows") in flows(written)
    assert [(node.name, node.place) for node in (*read.nodes, *written.nodes) if node.kind == "unknown"] == [
        ("not known", place)
    ] * 2
    lineage = of_connector(connector("rows"), "source", config, {"orders": 1}, [], CLUSTERS)
    assert lineage.made_of == {} and "s3cret" not in str(lineage)


def test_a_topic_of_something_else_than_kafka_is_not_known():
    mqtt = {"connector.class": "org.example.MqttSource"}
    graph = graph_of(connector("mqtt"), "source", mqtt, {"sensors": 1}, [{"topic": "sensors/a"}])
    assert flows(graph) == {("unknown:mqtt", "connector:mqtt"), ("connector:mqtt", "topic:sensors")}


def test_the_database_of_sql_servers_address_is_one_of_its_parameters():
    database = of_jdbc("jdbc:sqlserver://db;encrypt=false;databaseName=shop;password=s3cret")
    assert database and (database.namespace, database.table("o")) == ("mssql://db:1433", "shop.dbo.o")


@pytest.mark.parametrize(
    ("short", "more", "topic", "place", "table"),
    [
        ("postgresql.PostgresConnector", {"database.dbname": "shop"}, "cdc.public.o", "postgres://db:5432", "shop.public.o"),
        ("mysql.MySqlConnector", {"database.port": "3307"}, "cdc.shop.o", "mysql://db:3307", "shop.o"),
        ("mariadb.MariaDbConnector", {}, "cdc.shop.o", "mariadb://db:3306", "shop.o"),
        ("sqlserver.SqlServerConnector", {"database.names": "shop"}, "cdc.shop.dbo.o", "mssql://db:1433", "shop.dbo.o"),
        ("oracle.OracleConnector", {"database.dbname": "c", "database.pdb.name": "p"}, "cdc.S.O", "oracle://db:1521", "p.S.O"),
        ("db2.Db2Connector", {"database.dbname": "shop"}, "cdc.S.O", "db2://db:50000", "shop.S.O"),
    ],
)
def test_the_tables_that_debezium_reads_are_known_by_its_topics(
    short: str, more: dict[str, str], topic: str, place: str, table: str
):
    config = {"connector.class": DEBEZIUM + short, "topic.prefix": "cdc", "database.hostname": "db", **more}
    own = ("cdc", "cdc.transaction", "__debezium-heartbeat.cdc")
    assert origins(config, topic, *own) == {("external", table, place)}
    assert made_of("source", config, [topic, *own]) == {f"topic:{topic}": [f"external:{place}/{table}"]}


@pytest.mark.parametrize(
    "more",
    [
        ROUTER,
        {"topic.naming.strategy": "org.example.Mine"},
        {"transforms": "u", "transforms.u.type": "ExtractNewRecordState", "transforms.u.route.by.field": "city"},
    ],
)
def test_of_topics_that_debezium_was_told_to_call_otherwise_only_the_server_is_known(more: dict[str, str]):
    assert origins({**POSTGRES, **more}, "cdc.public.o") == {("unknown", "not known", "postgres://db:5432")}


def test_a_topic_with_more_dots_than_a_table_has_is_not_taken_for_one_and_a_placeholder_names_no_server():
    known = ("external", "shop.public.o", "postgres://db:5432")
    assert origins(POSTGRES, "cdc.public.o", "cdc.public.o.v2") == {known, ("unknown", "not known", "postgres://db:5432")}
    assert origins({**POSTGRES, "database.hostname": "${env:DB}"}, "cdc.public.o") == {("unknown", "not known", None)}
    unwrap = {"transforms": "u", "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState"}
    assert origins({**POSTGRES, **unwrap}, "cdc.public.o") == {known}


def test_a_connector_that_does_not_say_what_it_reads_or_writes_has_an_unknown_side_once_it_has_copied_something():
    config = {"connector.class": "org.example.Some"}
    assert flows(graph_of(connector("c"), "source", config, {"t": 1}, [{"my": "p"}])) == {
        ("unknown:c", "connector:c"), ("connector:c", "topic:t"),
    }  # fmt: skip
    assert ("connector:c", "unknown:c") in flows(graph_of(connector("c"), "sink", config, {"t": 1}))
    assert graph_of(connector("c"), "source", config, {}).nodes == [connector("c")]
    beats = {"connector.class": "MirrorHeartbeatConnector"}  # which makes its records itself
    assert flows(graph_of(connector("c"), "source", beats, {"heartbeats": 1})) == {("connector:c", "topic:heartbeats")}


def test_a_connector_of_checkpoints_reads_none_of_the_topics_that_its_source_partitions_name_by_their_name_in_the_target():
    config = {"connector.class": "MirrorCheckpointConnector", "source.cluster.alias": "eu",
              "source.cluster.bootstrap.servers": "eu:9092"}  # fmt: skip
    positions = [{"group": "g", "partition": 0, "topic": "eu.a"}]
    written = {"eu.checkpoints.internal": 1}
    assert flows(graph_of(connector("c"), "source", config, written, positions)) == {
        ("connector:c", "topic:eu.checkpoints.internal"),
    }  # fmt: skip
    assert made_of("source", config, written, positions) == {}


def test_of_which_topic_another_is_a_copy_is_known_by_the_connectors_naming_and_not_by_likeness():
    partitions = [{"topic:partition": f"{name}:0"} for name in ("a", "my-a", "b")]
    copies = {**MIRROR, "destination.topics.prefix": "my-"}
    assert made_of("source", copies, ["my-a", "my-my-a", "other-b"], partitions) == {
        "topic:my-a": ["topic:eu:9092/a"], "topic:my-my-a": ["topic:eu:9092/my-a"],
    }  # fmt: skip
    assert made_of("source", {**copies, **ROUTER}, ["my-a"], partitions) == {}
    assert made_of("source", {**copies, **ROUTER}, ["x", "y"], partitions[:1]) == {  # there is but one
        "topic:x": ["topic:eu:9092/a"], "topic:y": ["topic:eu:9092/a"],
    }  # fmt: skip
    mirror = {"connector.class": "MirrorSourceConnector", "source.cluster.alias": "eu", "target.cluster.alias": "us",
              "source.cluster.bootstrap.servers": "eu:9092", "replication.policy.renames": "b:c"}  # fmt: skip
    mm = [{"cluster": "eu", "topic": name, "partition": 0} for name in ("a", "b")]
    assert made_of("source", mirror, ["eu.a", "c"], mm) == {"topic:eu.a": ["topic:eu:9092/a"], "topic:c": ["topic:eu:9092/b"]}


def test_a_sink_makes_its_one_target_of_all_topics_and_a_kafka_sink_each_of_its_own():
    assert made_of("sink", {"file": "/out"}, ["a", "b"]) == {"external:/out": ["topic:a", "topic:b"]}
    away = {"connector.class": "KafkaSink", "target.bootstrap.servers": "eu:9092"}
    assert made_of("sink", away, ["a", "b"]) == {"topic:eu:9092/a": ["topic:a"], "topic:eu:9092/b": ["topic:b"]}
    renamed = graph_of(connector("c"), "sink", {**away, **ROUTER}, {"a": 1})
    assert [(node.kind, node.place) for node in renamed.nodes if node.id.startswith("unknown")] == [("unknown", "eu:9092")]


JDBC = {"connector.class": DEBEZIUM + "jdbc.JdbcSinkConnector", "connection.url": "jdbc:postgresql://u:s3cret@db/shop",
        "connection.password": "s3cret"}  # fmt: skip
MONGO = {"connector.class": "com.mongodb.kafka.connect.MongoSinkConnector", "database": "shop",
         "connection.uri": "mongodb://u:s3cret@m1,m2:27018/?replicaSet=rs"}  # fmt: skip
DEBEZIUM_MONGO = {"connector.class": DEBEZIUM + "mongodb.MongoDbSinkConnector", "sink.database": "shop",
                  "mongodb.connection.string": "mongodb+srv://u:s3cret@m.example.org"}  # fmt: skip


@pytest.mark.parametrize(
    ("config", "more", "target"),
    [
        (JDBC, {}, "postgres://db:5432/shop.public.cdc_public_orders"),
        (JDBC, {"quote.identifiers": "true"}, "postgres://db:5432/shop.public.cdc_public_Orders"),
        (JDBC, {"collection.name.format": "sales.in_${topic}"}, "postgres://db:5432/shop.sales.in_cdc_public_orders"),
        (JDBC, {"connection.url": "jdbc:mysql://db/shop", "table.name.format": "All"}, "mysql://db:3306/shop.All"),
        (JDBC, {"connection.url": "jdbc:oracle:thin:@//db:1521/xe", "table.name.format": "s.o"}, "oracle://db:1521/xe.S.O"),
        (MONGO, {}, "mongodb://m1:27017/shop.cdc.public.Orders"),
        (MONGO, {"collection": "all"}, "mongodb://m1:27017/shop.all"),
        (MONGO, {"topic.override.cdc.public.Orders.collection": "one", "collection": "all"}, "mongodb://m1:27017/shop.one"),
        (DEBEZIUM_MONGO, {}, "mongodb+srv://m.example.org/shop.cdc_public_Orders"),
    ],
)
def test_what_sinks_in_java_write_is_named_where_their_configuration_says_it(
    config: dict[str, str], more: dict[str, str], target: str
):
    assert made_of("sink", {**config, **more}, ["cdc.public.Orders"]) == {f"external:{target}": ["topic:cdc.public.Orders"]}
    assert "s3cret" not in str(graph_of(connector("c"), "sink", {**config, **more}, {"t": 1}))


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({**JDBC, **ROUTER}, "postgres://db:5432"),
        ({**JDBC, "collection.name.format": "${source.table}"}, "postgres://db:5432"),
        ({**JDBC, "collection.naming.strategy": "org.example.Mine"}, "postgres://db:5432"),
        ({**JDBC, "connection.url": "${env:URL}"}, None),
        ({**MONGO, "namespace.mapper": "org.example.Mine"}, "mongodb://m1:27017"),
        ({**MONGO, "connection.uri": "mongodb://${env:HOST}/"}, None),
    ],
)
def test_where_a_sink_in_java_is_told_otherwise_what_it_writes_is_not_guessed(config: dict[str, str], place: str | None):
    graph = graph_of(connector("c"), "sink", config, {"a.b": 1, "c": 1})
    assert [(node.kind, node.place) for node in graph.nodes if node.kind not in ("topic", "connector")] == [("unknown", place)]
    assert made_of("sink", config, ["a.b", "c"]) == {}


def test_a_table_of_several_topics_is_made_of_all_of_them():
    one = made_of("sink", {**JDBC, "collection.name.format": "all"}, ["a", "b"])
    assert one == {"external:postgres://db:5432/shop.public.all": ["topic:a", "topic:b"]}


def test_whether_a_chain_leaves_the_topic_is_known_by_its_transforms():
    mask = {"transforms": "m", "transforms.m.type": SMT + "MaskField$Value", "transforms.m.fields": "a"}
    assert keeps_topics({}) and keeps_topics(mask) and not keeps_topics(ROUTER)
    assert not keeps_topics({"transforms": "j", "transforms.j.type": "org.example.NotThere"})


def test_a_login_in_the_path_of_a_data_source_is_in_no_node():
    config = {"option.path": "s3a://KEY:s3cret@bucket/in"}
    for kind, partitions in (("source", []), ("sink", []), ("source", [{"filename": "s3a://KEY:s3cret@bucket/in"}])):
        graph = graph_of(connector("c"), kind, config, {"t": 1}, partitions)
        assert [node.id for node in graph.nodes if node.kind == "external"] == ["external:s3a://[hidden]@bucket/in"]
        assert "s3cret" not in repr(graph)


def test_a_url_that_is_none_hides_no_other_connector(call: Client, herder: MemoryHerder):
    herder.create("bad", {"connector.class": "SparkSource", "option.dbtable": "t", "option.url": "jdbc:postgresql://[x/db"})
    herder.create("file", {"connector.class": "FileStreamSource", "file": "/in"})
    answer = call("GET", "/headrace/lineage")
    nodes = {node["id"] for node in answer.json["nodes"]}  # of applications that other tests have reported, too
    assert (answer.status, nodes & {"connector:bad", "connector:file", "external:/in"}) == (
        200, {"connector:bad", "connector:file", "external:/in"},
    )  # fmt: skip
