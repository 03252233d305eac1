"""What a job, a connector or a streams application, reads and writes: datasets, named by OpenLineage's conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.errors import HeadraceError
from headrace.rest.column_lineage import column_rows
from headrace.rest.herder import RestHerder
from headrace.rest.lineage import EXTERNAL, TOPIC, Lineage, LineageNode, lineage_of_connector
from headrace.rest.streams_lineage import of_application
from headrace.runtime.schema_usage import USAGE
from headrace.transforms.column_lineage import ColumnRow

CONNECTOR, APPLICATION = "CONNECTOR", "APPLICATION"
_SOURCE_SERVERS = ("source.bootstrap.servers", "source.cluster.bootstrap.servers")

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


def connector_job(herder: RestHerder, name: str, servers: str) -> JobLineage:
    """Of a connector. servers: the bootstrap servers of the workers."""
    lineage, config = lineage_of_connector(herder, name, USAGE.of(name)), _config(herder, name)
    clusters = _clusters(config, servers)
    sources, targets = sides(lineage, f"connector:{name}", clusters)
    description = f"The connector {name} of class {config.get('connector.class') or '?'}, run by headrace."
    made_of = {target: [source] if (source := origin(target, sources)) else None for target in targets}
    written = herder.metrics.written(name) if len(targets) == 1 and config.get("topics") is None else None
    columns = column_rows(herder, name)
    return JobLineage(CONNECTOR, description, sources, made_of, schemas_of(lineage, clusters), columns, written)


def application_job(application: Mapping[str, Any]) -> JobLineage:
    """Of a streams application as it has reported: each topic is made of those that its sub-topology reads."""
    lineage = of_application(application)
    clusters: Mapping[str | None, str] = {None: application["servers"]}
    sources, targets = dict[Dataset, None](), dict[Dataset, list[Dataset]]()
    for node in lineage.nodes:
        if node.kind != TOPIC:
            read, written = sides(lineage, node.id, clusters)
            sources |= dict.fromkeys(read)
            for target in written:
                targets[target] = list(dict.fromkeys([*targets.get(target, ()), *(topic for topic in read if topic != target)]))
    description = f"The streams application {application['application']}, run by headrace."
    return JobLineage(APPLICATION, description, list(sources), targets)


def sides(lineage: Lineage, node_id: str, clusters: Mapping[str | None, str]) -> tuple[list[Dataset], list[Dataset]]:
    """What a node reads, and what it writes. clusters: bootstrap servers by the place of a topic, None: of the workers."""
    nodes = {node.id: node for node in lineage.nodes}
    read = [nodes[edge.source] for edge in lineage.edges if edge.target == node_id]
    written = [nodes[edge.target] for edge in lineage.edges if edge.source == node_id]
    return _places(read, clusters), _places(written, clusters)


def schemas_of(lineage: Lineage, clusters: Mapping[str | None, str]) -> dict[Dataset, Sequence[Mapping[str, Any]]]:
    """The schemas of topics that are in a registry. clusters: as of `sides`."""
    return {place: node.schemas for node in lineage.nodes if node.schemas for place in _places([node], clusters)}


def origin(target: Dataset, sources: Sequence[Dataset]) -> Dataset | None:
    """The dataset that another is a copy of: the only one that is read, or the one whose name it ends with; None: not known."""
    if len(sources) == 1:
        return sources[0]
    alike = [source for source in sources if target[1].endswith(source[1])]
    return max(alike, key=lambda source: len(source[1]), default=None)


def _config(herder: RestHerder, connector: str) -> Mapping[str, str | None]:
    try:
        return herder.info(connector).config
    except HeadraceError:  # deleted
        return {}


def _clusters(config: Mapping[str, str | None], servers: str) -> Mapping[str | None, str]:
    """Bootstrap servers by the name that the connector's lineage has for a cluster."""
    source = next((addresses for key in _SOURCE_SERVERS if (addresses := config.get(key))), None)
    return {**({source: source, config.get("source.cluster.alias"): source} if source else {}), None: servers}


def _places(nodes: Iterable[LineageNode], clusters: Mapping[str | None, str]) -> list[Dataset]:
    """Namespace and name of each dataset, as OpenLineage's naming conventions have them for Kafka and files."""
    places = []
    for node in nodes:
        if node.kind == TOPIC:
            places.append((f"kafka://{_first(clusters.get(node.place) or node.place or '')}", node.name))
        elif node.kind == EXTERNAL:
            places.append(_table(node.place, node.name) if node.place else ("file", node.name))
    return places


def _table(place: str, name: str) -> Dataset:
    """Of PostgreSQL `postgres://host:port` and `database.schema.table`; of others as far as their addresses are alike."""
    scheme, _, rest = place.partition("://")
    host, _, database = rest.partition("/")
    if scheme == "postgresql" and not re.search(r":\d+$", host):
        host += ":5432"  # the driver's default, which is part of the dataset's namespace
    table = name if "." in name or scheme != "postgresql" else f"public.{name}"
    return f"{scheme.replace('postgresql', 'postgres')}://{host}", f"{database}.{table}" if database else table


def _first(servers: str) -> str:
    """The first of some bootstrap servers, without a protocol before it."""
    return servers.split(",")[0].strip().rpartition("://")[2]
