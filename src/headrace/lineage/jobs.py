"""The datasets that a job (a connector or a streams application) reads and writes, named by OpenLineage's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.cluster.herder import Herder
from headrace.cluster.rest_bodies import connector_type
from headrace.connect_config.cluster_names import ClusterNames
from headrace.rest.column_lineage import column_rows
from headrace.rest.connector_lineage import Config, config_of, lineage_of_connector
from headrace.rest.lineage import EXTERNAL, TOPIC, UNKNOWN, Lineage, LineageNode
from headrace.rest.streams_lineage import of_application
from headrace.runtime.schema_usage import USAGE
from headrace.transforms.column_lineage import ColumnRow

CONNECTOR, APPLICATION = "CONNECTOR", "APPLICATION"

Dataset = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True)
class JobLineage:
    """The datasets of a job."""

    kind: str
    """CONNECTOR or APPLICATION."""
    description: str
    sources: Sequence[Dataset]
    targets: Mapping[Dataset, Sequence[Dataset] | None]
    """Each dataset that it writes, with those that it comes from; None: not known."""
    schemas: Mapping[Dataset, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Of topics: the last used schemas of their keys and values, if they are in a registry."""
    columns: Sequence[ColumnRow] = ()
    """The column lineage of its records."""
    written: int | None = None
    """The number of records that all of its tasks have written in this run, if it is known, and it writes a single dataset."""


def connector_job(herder: Herder, name: str, servers: str, clusters: ClusterNames, written: int | None) -> JobLineage:
    """The lineage of a connector.

    servers: bootstrap servers of the workers; clusters: names of all clusters of connectors; written: in this run, by all tasks.
    """
    config = config_of(herder, name)
    lineage = lineage_of_connector(herder, name, clusters, USAGE.of(name))
    nodes = {node.id: node for node in lineage.nodes}
    sources, targets = sides(lineage, f"connector:{name}", servers)
    made_of: dict[Dataset, Sequence[Dataset] | None] = dict.fromkeys(targets)
    made_of |= {_dataset(nodes[target], servers): [_dataset(nodes[source], servers) for source in sources]
                for (_, target), sources in lineage.made_of.items()}  # fmt: skip
    counted = written if len(targets) == 1 and connector_type(config) == "source" else None
    schemas = schemas_of(lineage, servers)
    return JobLineage(CONNECTOR, _description(name, config, lineage), sources, made_of, schemas, column_rows(config), counted)


def _description(name: str, config: Config, graph: Lineage) -> str:
    unknown = _unknown(graph)
    reads = any(edge.source in unknown for edge in graph.edges)
    caveat = f" It does not say what it {'reads' if reads else 'writes'}." if unknown else ""
    return f"The connector {name} of class {config.get('connector.class') or '?'}, run by headrace.{caveat}"


def _unknown(graph: Lineage) -> set[str]:
    return {node.id for node in graph.nodes if node.kind == UNKNOWN}


def application_job(application: Mapping[str, Any]) -> JobLineage:
    """The lineage of a streams application, by its report: each output topic comes from the input topics of its sub-topology."""
    lineage = of_application(application)
    sources, targets = dict[Dataset, None](), dict[Dataset, list[Dataset]]()
    for node in lineage.nodes:
        if node.kind != TOPIC:
            read, written = sides(lineage, node.id, application["servers"])
            sources |= dict.fromkeys(read)
            for target in written:
                targets[target] = list(dict.fromkeys([*targets.get(target, ()), *(topic for topic in read if topic != target)]))
    caveat = " It reads topics by a pattern, which does not say which." if _unknown(lineage) else ""
    description = f"The streams application {application['application']}, run by headrace.{caveat}"
    return JobLineage(APPLICATION, description, list(sources), targets)


def sides(lineage: Lineage, node_id: str, servers: str) -> tuple[list[Dataset], list[Dataset]]:
    """The datasets that a node reads, and those that it writes. servers: bootstrap servers for topics without a cluster."""
    nodes = {node.id: node for node in lineage.nodes if node.kind in (TOPIC, EXTERNAL)}
    read = [nodes[edge.source] for edge in lineage.edges if edge.target == node_id and edge.source in nodes]
    written = [nodes[edge.target] for edge in lineage.edges if edge.source == node_id and edge.target in nodes]
    return [_dataset(node, servers) for node in read], [_dataset(node, servers) for node in written]


def schemas_of(lineage: Lineage, servers: str) -> dict[Dataset, Sequence[Mapping[str, Any]]]:
    """The registered schemas of topics. servers: as in `sides`."""
    return {_dataset(node, servers): node.schemas for node in lineage.nodes if node.schemas}


def _dataset(node: LineageNode, servers: str) -> Dataset:
    """Namespace and name of a topic, table or file, by OpenLineage's naming conventions."""
    if node.kind == TOPIC:
        return f"kafka://{_first_server(node.place or servers)}", node.name
    return node.place or "file", node.name


def _first_server(servers: str) -> str:
    """The first of the bootstrap servers, without a protocol."""
    return servers.split(",")[0].strip().rpartition("://")[2]
