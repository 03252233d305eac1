"""What a connector reads and writes: active topics (KIP-558), stored source partitions, and what its configuration names.

Nothing is guessed: what a connector does not say is a node of its own, of the kind UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headrace.cluster.herder import Herder
from headrace.config.secrets import without_logins
from headrace.connect_config.cluster_names import ClusterNames, read_from, written_to
from headrace.connect_config.enrich import aliases
from headrace.connect_config.validation import connector_class
from headrace.connectors.base import Connector
from headrace.connectors.kafka_sink.connector import KafkaSinkConnector
from headrace.connectors.mirror.checkpoint_connector import MirrorCheckpointConnector
from headrace.connectors.mirror.heartbeat import MirrorHeartbeatConnector
from headrace.errors import HeadraceError
from headrace.rest import database_names
from headrace.rest.column_lineage import column_rows
from headrace.rest.lineage import (
    CONNECTOR,
    EXTERNAL,
    UNKNOWN,
    Lineage,
    LineageEdge,
    LineageNode,
    joined,
    topic_node,
    with_schemas,
)
from headrace.runtime.states import FAILED

Config = Mapping[str, str | None]
Uses = Sequence[Mapping[str, Any]]
"""Of schemas, as `SchemaUsage.of` has them."""
_KEEPS_THE_TOPIC = ("io.debezium.transforms.ExtractNewRecordState", "ExtractNewRecordState")


def lineage_of(herder: Herder, clusters: ClusterNames, uses: Mapping[str, Uses]) -> Lineage:
    """Of all connectors; what of a connector cannot be read is left out. uses: of schemas, by connector."""
    return joined(lineage_of_connector(herder, name, clusters, uses.get(name, ())) for name in herder.connectors())


def clusters_of(herder: Herder, servers: str, other_servers: Iterable[str] = ()) -> ClusterNames:
    """The clusters that configurations name. servers: the bootstrap servers of the workers; others: those of applications."""
    configs = [config_of(herder, name) for name in sorted(herder.connectors())]
    named = (how(kind, config) for config in configs for how in (read_from, written_to) for kind in ("source", "sink"))
    return ClusterNames(servers, [*filter(None, named), *other_servers])


def config_of(herder: Herder, connector: str) -> Config:
    """The configuration of a connector; empty where it has been deleted."""
    try:
        return herder.info(connector).config
    except HeadraceError:
        return {}


def lineage_of_connector(herder: Herder, name: str, clusters: ClusterNames, uses: Uses) -> Lineage:
    """Of one connector; the connector alone where no more can be read. uses: of schemas, by its tasks."""
    node = LineageNode(f"connector:{name}", CONNECTOR, name)
    try:
        info = herder.info(name)
        node = replace(node, state=_state(herder, name))
        partitions = herder.source_partitions(name) if info.type == "source" else []
        return with_schemas(of_connector(node, info.type, info.config, herder.topics_since(name), partitions, clusters), uses)
    except (HeadraceError, ValueError):  # ValueError: what its configuration has for a URL is none
        return Lineage([node], [])


def _state(herder: Herder, name: str) -> str | None:
    try:
        status = herder.status(name)
    except HeadraceError:  # just created
        return None
    failed = any(part["state"] == FAILED for part in (status["connector"], *status["tasks"]))
    return FAILED if failed else status["connector"]["state"]


def of_connector(
    connector: LineageNode,
    kind: str,
    config: Config,
    topics: Mapping[str, int],
    partitions: Iterable[Any],
    clusters: ClusterNames,
) -> Lineage:
    """The part of the graph that one connector makes.

    kind: source, sink or unknown; topics: the active ones, and since when; partitions: source partitions that have offsets.
    """
    cls = _class(config)
    there = read_from(kind, config) if kind == "sink" else written_to(kind, config)
    here = {name: topic_node(name, clusters.place(there)) for name in topics}
    links = [LineageEdge(node.id, connector.id, topics[n]) if kind == "sink" else LineageEdge(connector.id, node.id, topics[n])
            for n, node in here.items()]  # fmt: skip
    if kind == "sink":
        made_of = _targets(connector.name, cls, config, here, clusters)
        edges = [LineageEdge(connector.id, node.id) for node in made_of]
        outside = list(made_of)
        sources_of = {(connector.id, target.id): [source.id for source in read] for target, read in made_of.items() if read}
    else:
        origins, outside = _sources(connector.name, cls, config, here, partitions, clusters)
        edges = [LineageEdge(node.id, connector.id) for node in outside]
        sources_of = {(connector.id, here[topic].id): [node.id] for topic, node in origins.items()}
    return joined([Lineage([connector, *here.values(), *outside], [*edges, *links], sources_of)])


def _class(config: Config) -> type[Any] | None:
    try:
        return connector_class({key: value for key, value in config.items() if value is not None}, again=False)
    except HeadraceError:
        return None


def _unknown(connector: str, place: str | None = None) -> LineageNode:
    return LineageNode(f"unknown:{connector}", UNKNOWN, "not known", place)


def _table(database: database_names.NamedDatabase, name: str) -> LineageNode:
    return LineageNode(f"external:{database.namespace}/{name}", EXTERNAL, name, database.namespace)


# ------------------------------------------------------------------------------------------------- sources
def _sources(
    connector: str,
    cls: type[Any] | None,
    config: Config,
    here: Mapping[str, LineageNode],
    partitions: Iterable[Any],
    clusters: ClusterNames,
) -> tuple[dict[str, LineageNode], list[LineageNode]]:
    """The known origins of each topic; and all that the connector reads. here: the topics that it writes."""
    if cls is not None and issubclass(cls, MirrorHeartbeatConnector | MirrorCheckpointConnector):
        return {}, []  # they make their records themselves; a topic in a partition of checkpoints is one of the target
    outside = list(dict.fromkeys(node for partition in partitions if (node := _source(partition, config, clusters))))
    outside = outside or _external(connector, config)
    if outside:
        return {} if outside[0].kind == UNKNOWN else _copied(cls, config, here, outside), outside
    if not here:  # nothing has been seen so far
        return {}, []
    name = getattr(cls, "plugin_name", config.get("connector.class") or "")
    database = database_names.captured_by(name, config)
    if database is None or not keeps_topics(config):
        return {}, [_unknown(connector, database and database.namespace)]
    tables = {topic: table for topic in here if (table := database_names.captured_table(name, config, topic))}
    origins = {topic: _table(database, table) for topic, table in tables.items()}
    silent = any(topic not in tables and not database_names.without_table(config, topic) for topic in here)
    return origins, [*dict.fromkeys(origins.values()), *([_unknown(connector, database.namespace)] if silent else [])]


def _source(partition: Any, config: Config, clusters: ClusterNames) -> LineageNode | None:
    """The origin of a source partition: a topic of a Kafka source or of a mirror, or a file."""
    if not isinstance(partition, dict):
        return None
    if "topic:partition" in partition or "topic" in partition:
        name = str(partition.get("topic") or str(partition["topic:partition"]).rpartition(":")[0])
        servers, alias = read_from("source", config), partition.get("cluster")
        if not servers and alias is None:  # a topic of something else than Kafka, as MQTT
            return None
        return topic_node(name, clusters.place(servers) if servers else str(alias))
    if name := partition.get("filename"):
        return _file(str(name))
    return None


def _copied(
    cls: type[Any] | None, config: Config, here: Mapping[str, LineageNode], outside: Sequence[LineageNode]
) -> dict[str, LineageNode]:
    """The original topic of each copy: by the connector's naming, or if there is only one candidate."""
    if len(outside) == 1:
        return dict.fromkeys(here, outside[0])
    if cls is None or not keeps_topics(config):
        return {}
    copies = {node: _copy_of(cls, config, node.name) for node in outside}
    return {name: node for node, name in copies.items() if name is not None and name in here}


def _copy_of(cls: type[Any], config: Config, topic: str) -> str | None:
    try:
        settings = {key: value for key, value in config.items() if value is not None}
        return cls.copy_of(settings, topic) if issubclass(cls, Connector) else None
    except HeadraceError:  # an invalid configuration: the status has the error
        return None


def keeps_topics(config: Config) -> bool:
    """Whether the chain of a connector leaves the topics of records as they are, for certain."""
    topic_names = [
        name
        for name in aliases("transforms", config)
        if config.get(f"transforms.{name}.type") not in _KEEPS_THE_TOPIC or config.get(f"transforms.{name}.route.by.field")
    ]
    if not topic_names:
        return True
    rows = {row.column: row.origins for row in column_rows({**config, "transforms": ",".join(topic_names)})}
    return rows.get("topic") == [("topic", "IDENTITY")]


def _external(connector: str, config: Config) -> list[LineageNode]:
    """The file, or the table or path of a Spark data source, that a configuration names."""
    if table := config.get("option.dbtable"):
        database = database_names.of_jdbc(config.get("option.url") or "")
        if database is None or table.lstrip().startswith("("):  # a query, which may have literals that are nobody's business
            return [_unknown(connector, database and database.namespace)]
        return [_table(database, database.table(table))]
    name = config.get("file") or config.get("option.path")
    return [_file(name)] if name else []


def _file(path: str) -> LineageNode:
    """path: of a file or a folder, also as a URL, which may have a login."""
    name = without_logins(path)
    return LineageNode(f"external:{name}", EXTERNAL, name)


# ------------------------------------------------------------------------------------------------- sinks
def _targets(
    connector: str, cls: type[Any] | None, config: Config, here: Mapping[str, LineageNode], clusters: ClusterNames
) -> dict[LineageNode, list[LineageNode]]:
    """The targets of a sink, each with its source topics; none: unknown. here: the topics that it reads."""
    if named := _external(connector, config):
        return {node: [] if node.kind == UNKNOWN else list(here.values()) for node in named}
    name = getattr(cls, "plugin_name", config.get("connector.class") or "")
    if (database := database_names.written_by(name, config)) is not None:
        return _tables(connector, name, database, config, here)
    place = None
    if cls is not None and issubclass(cls, KafkaSinkConnector):
        place = clusters.place(written_to("sink", config))
        if keeps_topics(config):
            copies = {name: _copy_of(cls, config, name) for name in here}
            return {topic_node(copy, place): [here[name]] for name, copy in copies.items() if copy}
    return {_unknown(connector, place): []} if here else {}


def _tables(
    connector: str, cls: str, database: database_names.NamedDatabase, config: Config, here: Mapping[str, LineageNode]
) -> dict[LineageNode, list[LineageNode]]:
    """The tables or collections that a sink in Java writes, and of which topics each is made."""
    made_of: dict[LineageNode, list[LineageNode]] = {}
    named = keeps_topics(config)
    for topic, node in here.items():
        table = database_names.written_table(cls, config, topic) if named else None
        made_of.setdefault(_table(database, table) if table else _unknown(connector, database.namespace), []).append(node)
    return {target: sources if target.kind == EXTERNAL else [] for target, sources in made_of.items()}
