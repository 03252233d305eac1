"""Where the nodes of a graph stand: layers by the longest path, ordered by barycentre. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.rest.lineage import Lineage, LineageNode

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 210, 34, 70, 12, 8
MOST_NODES = 400
"""That fit into one picture."""
_SWEEPS = 6


@dataclass(frozen=True)
class Box:
    """A node and its place."""

    node: LineageNode
    x: float
    """Of the left upper corner, as `y`."""
    y: float


@dataclass(frozen=True)
class Drawing:
    """A graph as an SVG shows it."""

    boxes: Sequence[Box]
    curves: Sequence[str]
    """The path of each edge."""
    width: float
    height: float


def draw(graph: Lineage) -> Drawing:
    """Lay out a graph; edges that close a circle lead back."""
    names = [node.id for node in graph.nodes]
    edges = [(edge.source, edge.target) for edge in graph.edges]
    layers = _ordered(_layers(names, _acyclic(names, edges)), edges)
    tallest = max((len(layer) for layer in layers), default=0)
    height = tallest * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN
    nodes = {node.id: node for node in graph.nodes}
    boxes: dict[str, Box] = {}
    for column, layer in enumerate(layers):
        top = (height - len(layer) * (HEIGHT + GAP_Y) + GAP_Y) / 2
        for row, name in enumerate(layer):
            boxes[name] = Box(nodes[name], MARGIN + column * (WIDTH + GAP_X), top + row * (HEIGHT + GAP_Y))
    curves = [_curve(boxes[source], boxes[target]) for source, target in edges]
    return Drawing(list(boxes.values()), curves, len(layers) * (WIDTH + GAP_X) - GAP_X + 2 * MARGIN, max(height, 0))


def _acyclic(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """The nodes before each node, without the edges that would close a circle."""
    following: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        following[source].append(target)
    before: dict[str, list[str]] = {name: [] for name in names}
    state: dict[str, int] = {}  # 1: on the way, 2: done
    for root in names:
        stack = [(root, iter(following[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            name, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[name] = 2
                stack.pop()
            elif state.get(target) != 1:
                before[target].append(name)
                if target not in state:
                    state[target] = 1
                    stack.append((target, iter(following[target])))
    return before


def _layers(names: Sequence[str], before: dict[str, list[str]]) -> list[list[str]]:
    depth = dict.fromkeys(names, 0)
    for _ in names:  # as often as the longest path is long, at most
        deeper = {name: max((depth[neighbour] + 1 for neighbour in before[name]), default=0) for name in names}
        if deeper == depth:
            break
        depth = deeper
    depth |= _beginnings(before, depth)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        layers[depth[name]].append(name)
    return layers


def _beginnings(before: dict[str, list[str]], depth: dict[str, int]) -> dict[str, int]:
    """The layers of nodes that nothing leads to: next to the first that they lead to, so that no edge passes behind a node."""
    nearest: dict[str, int] = {}
    for name, sources in before.items():
        for source in sources:
            if not before[source]:
                nearest[source] = min(nearest.get(source, depth[name] - 1), depth[name] - 1)
    return nearest


def _ordered(layers: list[list[str]], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The layers, each sorted by where its neighbours stand: those to the left, then those to the right, again and again."""
    depth = {name: n for n, layer in enumerate(layers) for name in layer}
    near: dict[str, list[str]] = {name: [] for name in depth}
    for source, target in edges:
        near[source].append(target)
        near[target].append(source)
    place: dict[str, float] = {}

    def stand(n: int, layer: list[str]) -> None:
        layers[n] = layer
        place.update((name, row - len(layer) / 2) for row, name in enumerate(layer))

    for n, layer in enumerate(layers):
        stand(n, layer)
    for sweep in range(_SWEEPS):
        side = 1 if sweep % 2 else -1  # the neighbours to the right, or to the left
        for n in range(len(layers))[::-side]:
            beside = {
                name: [place[neighbour] for neighbour in near[name] if (depth[neighbour] - n) * side > 0] for name in layers[n]
            }
            centre = {name: sum(places) / len(places) if places else place[name] for name, places in beside.items()}
            stand(n, sorted(layers[n], key=centre.__getitem__))
    return layers


def _curve(source: Box, target: Box) -> str:
    x1, y1, x2, y2 = source.x + WIDTH, source.y + HEIGHT / 2, target.x, target.y + HEIGHT / 2
    bend = max(GAP_X * 0.6, abs(x2 - x1) / 2)
    return f"M{x1:.0f},{y1:.0f} C{x1 + bend:.0f},{y1:.0f} {x2 - bend:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
