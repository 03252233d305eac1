"""What a job, a connector or a streams application, reads and writes: datasets, named by OpenLineage's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.rest.cluster_names import ClusterNames
from headrace.rest.column_lineage import column_rows
from headrace.rest.connector_lineage import Config, config_of, lineage_of_connector
from headrace.rest.herder import RestHerder
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
    """Each dataset that it writes, with those that it is made of; None: not known."""
    schemas: Mapping[Dataset, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Of topics: the schemas of their keys and values that were used last, where they are in a registry."""
    columns: Sequence[ColumnRow] = ()
    """Of which columns those of its records are made."""
    written: int | None = None
    """Records that its tasks on this worker have written, where it is known which dataset they are in."""


def connector_job(herder: RestHerder, name: str, servers: str, clusters: ClusterNames) -> JobLineage:
    """Of a connector. servers: the bootstrap servers of the workers; clusters: those that all connectors name."""
    config = config_of(herder, name)
    found = lineage_of_connector(herder, name, clusters, USAGE.of(name))
    nodes = {node.id: node for node in found.graph.nodes}
    sources, targets = sides(found.graph, f"connector:{name}", servers)
    made_of: dict[Dataset, Sequence[Dataset] | None] = dict.fromkeys(targets)
    made_of |= {_dataset(nodes[target], servers): [_dataset(nodes[one], servers) for one in sources]
                for target, sources in found.made_of.items()}  # fmt: skip
    written = herder.metrics.written(name) if len(targets) == 1 and config.get("topics") is None else None
    schemas = schemas_of(found.graph, servers)
    return JobLineage(CONNECTOR, _description(name, config, found.graph), sources, made_of, schemas, column_rows(config), written)


def _description(name: str, config: Config, graph: Lineage) -> str:
    unknown = {node.id for node in graph.nodes if node.kind == UNKNOWN}
    reads = any(edge.source in unknown for edge in graph.edges)
    not_said = f" It does not say what it {'reads' if reads else 'writes'}." if unknown else ""
    return f"The connector {name} of class {config.get('connector.class') or '?'}, run by headrace.{not_said}"


def application_job(application: Mapping[str, Any]) -> JobLineage:
    """Of a streams application as it has reported: each topic is made of those that its sub-topology reads."""
    lineage = of_application(application)
    sources, targets = dict[Dataset, None](), dict[Dataset, list[Dataset]]()
    for node in lineage.nodes:
        if node.kind != TOPIC:
            read, written = sides(lineage, node.id, application["servers"])
            sources |= dict.fromkeys(read)
            for target in written:
                targets[target] = list(dict.fromkeys([*targets.get(target, ()), *(topic for topic in read if topic != target)]))
    description = f"The streams application {application['application']}, run by headrace."
    return JobLineage(APPLICATION, description, list(sources), targets)


def sides(lineage: Lineage, node_id: str, servers: str) -> tuple[list[Dataset], list[Dataset]]:
    """The datasets that a node reads, and those that it writes. servers: of the cluster of topics without a place."""
    nodes = {node.id: node for node in lineage.nodes if node.kind in (TOPIC, EXTERNAL)}
    read = [nodes[edge.source] for edge in lineage.edges if edge.target == node_id and edge.source in nodes]
    written = [nodes[edge.target] for edge in lineage.edges if edge.source == node_id and edge.target in nodes]
    return [_dataset(node, servers) for node in read], [_dataset(node, servers) for node in written]


def schemas_of(lineage: Lineage, servers: str) -> dict[Dataset, Sequence[Mapping[str, Any]]]:
    """The schemas of topics that are in a registry. servers: as of `sides`."""
    return {_dataset(node, servers): node.schemas for node in lineage.nodes if node.schemas}


def _dataset(node: LineageNode, servers: str) -> Dataset:
    """Namespace and name of a topic, table or file, as OpenLineage's naming conventions have them."""
    if node.kind == TOPIC:
        return f"kafka://{_first(node.place or servers)}", node.name
    return node.place or "file", node.name


def _first(servers: str) -> str:
    """The first of some bootstrap servers, without a protocol before it."""
    return servers.split(",")[0].strip().rpartition("://")[2]
