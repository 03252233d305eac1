"""Where data comes from and goes to, as a graph: its parts joined, what a node reaches, and pictures of it as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from headrace.runtime.states import FAILED

CONNECTOR, TOPIC, EXTERNAL, APPLICATION, UNKNOWN = "connector", "topic", "external", "application", "unknown"
FAILURES = (FAILED, "ERROR", "PENDING_ERROR")
"""The states of a connector, and of a streams application, that has failed."""


@dataclass(frozen=True)
class LineageNode:
    """A connector, a topic, a sub-topology of a streams application, something that is no topic, or what is not known."""

    id: str
    kind: str
    name: str
    place: str | None = None
    """The bootstrap servers of a topic's cluster, None: that of the workers; the sub-topology of an application; the namespace
    of a database, by OpenLineage's conventions, in which `name` is the name of a table."""
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


def topic_node(name: str, place: str | None) -> LineageNode:
    """A topic. place: as of `LineageNode`."""
    return LineageNode(f"topic:{place}/{name}" if place else f"topic:{name}", TOPIC, name, place)


def joined(parts: Iterable[Lineage]) -> Lineage:
    """Several as one."""
    nodes: dict[str, LineageNode] = {}
    edges: dict[tuple[str, str], LineageEdge] = {}
    for part in parts:
        nodes |= {node.id: node for node in part.nodes if node.schemas or node.id not in nodes}
        edges |= {(edge.source, edge.target): edge for edge in part.edges}
    return Lineage([nodes[key] for key in sorted(nodes)], [edges[key] for key in sorted(edges)])


def with_schemas(lineage: Lineage, uses: Sequence[Mapping[str, Any]]) -> Lineage:
    """The lineage of a connector with the schemas of its topics: as it reads, or writes, them; both may have one name.

    uses: as `SchemaUsage.of` has them; without a topic the subject tells it.
    """
    last: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for use in sorted(uses, key=lambda use: use["since"]):
        if use["subject"] is not None:
            topic = use.get("topic") or use["subject"].removesuffix(f"-{use['part']}")
            last[use["direction"], topic, use["part"]] = use
    names = ("part", "id", "type", "subject", "version", "fields")
    written = {edge.target for edge in lineage.edges}

    def of_topic(node: LineageNode) -> list[dict[str, Any]]:
        direction = "written" if node.id in written else "read"
        schemas = [last[direction, node.name, part] for part in ("key", "value") if (direction, node.name, part) in last]
        return [{key: use[key] for key in names} for use in schemas]

    return replace(lineage, nodes=[replace(n, schemas=of_topic(n)) if n.kind == TOPIC else n for n in lineage.nodes])


def as_dot(body: Mapping[str, Any]) -> str:
    """For Graphviz."""
    shapes = {CONNECTOR: "box", TOPIC: "cds", EXTERNAL: "folder", APPLICATION: "component", UNKNOWN: "plaintext"}
    lines = [f"  {_quoted(n['id'])} [label={_quoted(_label(n))}, shape={shapes[n['kind']]}];" for n in body["nodes"]]
    lines += [f"  {_quoted(e['source'])} -> {_quoted(e['target'])};" for e in body["edges"]]
    return "\n".join(["digraph headrace {", "  rankdir=LR;", *lines, "}"])


def as_mermaid(body: Mapping[str, Any]) -> str:
    """For Mermaid, as forges show it in Markdown."""
    names = {node["id"]: f"n{number}" for number, node in enumerate(body["nodes"])}
    frames = {
        CONNECTOR: ("[", "]"), TOPIC: ("([", "])"), EXTERNAL: ("[/", "/]"), APPLICATION: ("[[", "]]"), UNKNOWN: ("{{", "}}"),
    }  # fmt: skip
    lines = []
    for node in body["nodes"]:
        begin, end = frames[node["kind"]]
        text = _label(node).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", " ")
        lines.append(f'  {names[node["id"]]}{begin}"{text}"{end}')
    lines += [f"  {names[edge['source']]} --> {names[edge['target']]}" for edge in body["edges"]]
    return "\n".join(["flowchart LR", *lines])


def _label(node: Mapping[str, Any]) -> str:
    place = f" @ {node['place']}" if node["place"] else ""
    failed = f" ({node['state']})" if node["state"] in FAILURES else ""
    return f"{node['name']}{place}{failed}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
