"""Where data comes from and goes to: topics in use (KIP-558) and stored source partitions, joined by their connectors.

Pure but for `lineage_of`, which asks the herder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from headrace.errors import HeadraceError
from headrace.rest.herder import RestHerder
from headrace.rest.overview import FAILED

CONNECTOR, TOPIC, EXTERNAL, APPLICATION = "connector", "topic", "external", "application"
Uses = Sequence[Mapping[str, Any]]
"""Of schemas, as `SchemaUsage.of` has them."""


@dataclass(frozen=True)
class LineageNode:
    """A connector, a topic, a sub-topology of a streams application, or something that is no topic."""

    id: str
    kind: str
    name: str
    place: str | None = None
    """The cluster of a topic, as its connector names it, None: that of the workers; the sub-topology of an application."""
    state: str | None = None
    """Of a connector, FAILED if it, or any of its tasks, has failed; of an application."""
    schemas: Sequence[Mapping[str, Any]] = ()
    """Of a topic: the schemas of its keys and values that were used last, where they are in a registry."""


@dataclass(frozen=True)
class LineageEdge:
    """Data flows from one node to the other."""

    source: str
    target: str
    since_ms: int | None = None
    """When the topic was seen in use for the first time since the last reset, in ms since the epoch."""


@dataclass(frozen=True)
class Lineage:
    """All nodes and edges, each once, in order."""

    nodes: Sequence[LineageNode]
    edges: Sequence[LineageEdge]

    def reached(self, ids: Iterable[str]) -> Lineage:
        """What these nodes reach, with the current and against it; nothing where none of them exists."""
        start = {node.id for node in self.nodes} & set(ids)
        down = _closure(start, [(edge.source, edge.target) for edge in self.edges])
        up = _closure(start, [(edge.target, edge.source) for edge in self.edges])
        inside = [edge for edge in self.edges if {edge.source, edge.target} <= down or {edge.source, edge.target} <= up]
        return Lineage([node for node in self.nodes if node.id in down | up], inside)

    def body(self) -> dict[str, Any]:
        """The answer of `GET /headrace/lineage`."""
        return {"nodes": [asdict(node) for node in self.nodes], "edges": [asdict(edge) for edge in self.edges]}


def _closure(start: set[str], steps: Sequence[tuple[str, str]]) -> set[str]:
    following: dict[str, list[str]] = {}
    for here, there in steps:
        following.setdefault(here, []).append(there)
    reached, waiting = set(start), list(start)
    while waiting:
        for there in following.get(waiting.pop(), ()):
            if there not in reached:
                reached.add(there)
                waiting.append(there)
    return reached


def joined(parts: Iterable[Lineage]) -> Lineage:
    """Several as one."""
    nodes: dict[str, LineageNode] = {}
    edges: dict[tuple[str, str], LineageEdge] = {}
    for part in parts:
        nodes |= {node.id: node for node in part.nodes if node.schemas or node.id not in nodes}
        edges |= {(edge.source, edge.target): edge for edge in part.edges}
    return Lineage([nodes[key] for key in sorted(nodes)], [edges[key] for key in sorted(edges)])


def of_connector(
    connector: LineageNode, kind: str, config: Mapping[str, str | None], topics: Mapping[str, int], partitions: Iterable[Any]
) -> Lineage:
    """The lineage of one connector.

    kind: source, sink or unknown; topics: in use, with the time since when; partitions: the source partitions that have offsets.
    """
    here = [(LineageNode(f"topic:{name}", TOPIC, name), since) for name, since in topics.items()]
    if kind == "sink":
        outside = _external(config)
        edges = [LineageEdge(node.id, connector.id, since) for node, since in here]
        edges += [LineageEdge(connector.id, node.id) for node in outside]
    else:
        outside = list(dict.fromkeys(node for partition in partitions if (node := _source(partition, config)))) or _external(
            config
        )
        edges = [LineageEdge(node.id, connector.id) for node in outside]
        edges += [LineageEdge(connector.id, node.id, since) for node, since in here]
    return joined([Lineage([connector, *(node for node, _ in here), *outside], edges)])


def _source(partition: Any, config: Mapping[str, str | None]) -> LineageNode | None:
    """What a source partition is of: a topic of a Kafka source or of a mirror, or a file."""
    if not isinstance(partition, dict):
        return None
    cluster = str(
        partition.get("cluster") or config.get("source.bootstrap.servers") or config.get("source.cluster.bootstrap.servers")
    )
    if "topic:partition" in partition or "topic" in partition:
        name = str(partition.get("topic") or str(partition["topic:partition"]).rpartition(":")[0])
        return LineageNode(f"topic:{cluster}/{name}", TOPIC, name, cluster)
    if name := partition.get("filename"):
        return LineageNode(f"external:{name}", EXTERNAL, str(name))
    return None


def _external(config: Mapping[str, str | None]) -> list[LineageNode]:
    """The file, or the table or path of a Spark data source, that a configuration names."""
    if table := config.get("option.dbtable"):
        place = database(config.get("option.url") or "")
        return [LineageNode(f"external:{place}/{table}", EXTERNAL, table, place)]
    name = config.get("file") or config.get("option.path")
    return [LineageNode(f"external:{name}", EXTERNAL, name)] if name else []


def database(url: str) -> str:
    """Where a JDBC address leads, `postgresql://host:port/database`: without users, passwords and other parameters."""
    parts = urlsplit(url.removeprefix("jdbc:").partition(";")[0])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def lineage_of(herder: RestHerder, uses: Mapping[str, Uses]) -> Lineage:
    """Of all connectors; what of a connector cannot be read is left out. uses: of schemas, by connector."""
    return joined(lineage_of_connector(herder, name, uses.get(name, ())) for name in herder.connectors())


def lineage_of_connector(herder: RestHerder, name: str, uses: Uses) -> Lineage:
    """Of one connector; the connector alone where no more can be read. uses: of schemas, by its tasks."""
    node = LineageNode(f"connector:{name}", CONNECTOR, name)
    try:
        info = herder.info(name)
        node = replace(node, state=_state(herder, name))
        partitions = herder.source_partitions(name) if info.type == "source" else []
        lineage = of_connector(node, info.type, info.config, herder.topics_since(name), partitions)
        return with_schemas(lineage, uses)
    except HeadraceError:
        return Lineage([node], [])


def with_schemas(lineage: Lineage, uses: Uses) -> Lineage:
    """With the schemas of topics. uses: of a connector; subjects are named after topics."""
    last = {use["subject"]: use for use in sorted(uses, key=lambda use: use["since"]) if use["subject"] is not None}
    names = ("part", "id", "type", "subject", "version", "fields")

    def of_topic(name: str) -> list[dict[str, Any]]:
        schemas = [last[subject] for part in ("key", "value") if (subject := f"{name}-{part}") in last]
        return [{key: use[key] for key in names} for use in schemas]

    return replace(lineage, nodes=[replace(n, schemas=of_topic(n.name)) if n.kind == TOPIC else n for n in lineage.nodes])


def _state(herder: RestHerder, name: str) -> str | None:
    try:
        status = herder.status(name)
    except HeadraceError:  # just created
        return None
    failed = any(part["state"] == FAILED for part in (status["connector"], *status["tasks"]))
    return FAILED if failed else status["connector"]["state"]


def as_dot(body: Mapping[str, Any]) -> str:
    """For Graphviz."""
    shapes = {CONNECTOR: "box", TOPIC: "cds", EXTERNAL: "folder", APPLICATION: "component"}
    lines = [f"  {_quoted(n['id'])} [label={_quoted(_label(n))}, shape={shapes[n['kind']]}];" for n in body["nodes"]]
    lines += [f"  {_quoted(e['source'])} -> {_quoted(e['target'])};" for e in body["edges"]]
    return "\n".join(["digraph headrace {", "  rankdir=LR;", *lines, "}"])


def as_mermaid(body: Mapping[str, Any]) -> str:
    """For Mermaid, as forges show it in Markdown."""
    names = {node["id"]: f"n{number}" for number, node in enumerate(body["nodes"])}
    frames = {CONNECTOR: ("[", "]"), TOPIC: ("([", "])"), EXTERNAL: ("[/", "/]"), APPLICATION: ("[[", "]]")}
    lines = []
    for node in body["nodes"]:
        begin, end = frames[node["kind"]]
        text = _label(node).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")
        lines.append(f'  {names[node["id"]]}{begin}"{text}"{end}')
    lines += [f"  {names[edge['source']]} --> {names[edge['target']]}" for edge in body["edges"]]
    return "\n".join(["flowchart LR", *lines])


def _label(node: Mapping[str, Any]) -> str:
    failed = " (FAILED)" if node["state"] == FAILED else ""
    return f"{node['name']}{failed}" if not node["place"] else f"{node['name']} @ {node['place']}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
