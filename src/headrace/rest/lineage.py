"""Where data comes from and goes to, as a graph: its parts joined, what a node reaches, and pictures of it as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from headrace.runtime.states import FAILED

CONNECTOR, TOPIC, EXTERNAL, APPLICATION, UNKNOWN = "connector", "topic", "external", "application", "unknown"
FAILURES = (FAILED, "ERROR", "PENDING_ERROR")
"""The states of a connector, and of a streams application, that has failed."""

Step = tuple[str, str]
"""From one node to another, by their ids."""


@dataclass(frozen=True)
class LineageNode:
    """A connector, a topic, a sub-topology of a streams application, something that is no topic, or what is not known."""

    id: str
    """Names its kind as well: no two nodes have one id."""
    kind: str
    """CONNECTOR, TOPIC, EXTERNAL, APPLICATION or UNKNOWN."""
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
    """The id of a node, as `target`."""
    target: str
    since_ms: int | None = None
    """When the topic was seen in use for the first time since the last reset, in ms since the epoch."""


@dataclass(frozen=True)
class Lineage:
    """All nodes and edges, each once, in order."""

    nodes: Sequence[LineageNode]
    edges: Sequence[LineageEdge]
    made_of: Mapping[Step, Sequence[str]] = field(default_factory=dict)
    """By the step from a connector to what it writes: of what that it reads this is made, by ids; missing: not known."""

    def reached(self, ids: Iterable[str]) -> Lineage:
        """What these nodes reach, with the current and against it; nothing where none of them exists.

        What a connector reads reaches of what it writes that which is made of it, and that of which it is not known.
        """
        start = {node.id for node in self.nodes} & set(ids)
        steps = [(edge.source, edge.target) for edge in self.edges]
        down = _taken(start, steps, *self._ways_down(steps))
        ways_up = {(target, via): sources for (via, target), sources in self.made_of.items()}
        up = _taken(start, [(target, source) for source, target in steps], ways_up, {})
        taken = down | {(source, target) for target, source in up}
        inside = start.union(*taken)
        edges = [edge for edge in self.edges if (edge.source, edge.target) in taken]
        return Lineage([node for node in self.nodes if node.id in inside], edges)

    def _ways_down(self, steps: Iterable[Step]) -> tuple[dict[Step, list[str]], dict[str, list[str]]]:
        """The `ways` of steps to the connectors in `made_of`, and to what each step there leads on besides."""
        not_known: dict[str, list[str]] = {via: [] for via, _ in self.made_of}
        for via, target in steps:
            if via in not_known and (via, target) not in self.made_of:
                not_known[via].append(target)
        ways: dict[Step, list[str]] = {(source, via): [] for source, via in steps if via in not_known}
        for (via, target), sources in self.made_of.items():
            for source in sources:
                ways[source, via].append(target)
        return ways, not_known

    def body(self) -> dict[str, Any]:
        """The answer of `GET /headrace/lineage`."""
        return {"nodes": [asdict(node) for node in self.nodes], "edges": [asdict(edge) for edge in self.edges]}


def _taken(
    start: set[str], steps: Iterable[Step], ways: Mapping[Step, Iterable[str]], besides: Mapping[str, Iterable[str]]
) -> set[Step]:
    """The steps that are taken from these nodes on.

    ways: to which nodes alone a step leads on; missing: to all that follow. besides: by node, to which nodes each step leads on
    that has `ways`. They are taken once, however many steps lead there: a mirror has thousands of both.
    """
    following: dict[str, list[str]] = {}
    for here, there in steps:
        following.setdefault(here, []).append(there)
    taken = {(here, there) for here in start for there in following.get(here, ())}
    waiting, left_for_all, besides = list(taken), set(start), dict(besides)
    while waiting:
        step = waiting.pop()
        here, only = step[1], ways.get(step)
        if here in left_for_all:
            continue
        if only is None:
            only = following.get(here, ())
            left_for_all.add(here)
        else:
            only = [*only, *besides.pop(here, ())]
        new = {(here, there) for there in only} - taken
        taken |= new
        waiting += new
    return taken


def topic_node(name: str, place: str | None) -> LineageNode:
    """A topic. place: as of `LineageNode`."""
    return LineageNode(f"topic:{place}/{name}" if place else f"topic:{name}", TOPIC, name, place)


def joined(parts: Iterable[Lineage]) -> Lineage:
    """Several as one."""
    nodes: dict[str, LineageNode] = {}
    edges: dict[Step, LineageEdge] = {}
    made_of: dict[Step, Sequence[str]] = {}
    for part in parts:
        made_of |= part.made_of
        nodes |= {node.id: node for node in part.nodes if node.schemas or node.id not in nodes}
        edges |= {(edge.source, edge.target): edge for edge in part.edges}
    return Lineage([nodes[key] for key in sorted(nodes)], [edges[key] for key in sorted(edges)], made_of)


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
