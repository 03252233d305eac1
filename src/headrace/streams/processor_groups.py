"""What an operator of a topology needs of others, and which processors of the user's work together because they share stores.

Kafka Streams takes a record through all operators before it takes the next one, so what one processor puts into a store another
one finds there with the same record. Operators take whole batches here: processors with a common store do it as one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headrace.streams import operations as ops
from headrace.streams.nodes import Node, ProcessorNode

_OWNERS = (
    ops.StreamAggregate, ops.TableAggregate, ops.TableSource, ops.TableFilter, ops.TableMapValues, ops.TableTransformValues,
)  # fmt: skip


def owns_store(node: Node, store: str) -> bool:
    """Whether a store is where an operator of the DSL keeps its result."""
    return isinstance(node, ProcessorNode) and isinstance(node.operation, _OWNERS) and node.operation.store == store


def owned_stores(node: Node, nodes: Iterable[Node]) -> dict[str, str]:
    """Of a processor or transformer, the stores that are results of other operators, each with its operator."""
    if not isinstance(node, ProcessorNode) or not isinstance(node.operation, ops.UserProcessor | ops.TableTransformValues):
        return {}
    others = [other for other in nodes if other != node]
    return {store: other.name for store in node.stores for other in others if owns_store(other, store)}


def dependencies(node: Node) -> tuple[str, ...]:
    """The nodes that come before a node: its parents, and those that it looks into."""
    operation = node.operation if isinstance(node, ProcessorNode) else None
    if isinstance(operation, ops.StreamTableJoin | ops.SubscriptionJoin):
        return (*node.parents, operation.table)
    if isinstance(operation, ops.ForeignTableJoin):
        return (*node.parents, operation.receive)
    return (*node.parents, operation.send) if isinstance(operation, ops.ResponseJoin) else node.parents


def processor_groups(nodes: Iterable[Node]) -> dict[str, frozenset[str]]:
    """By processor that shares a store, the processors that work together with it, and itself.

    Processors between two of a group belong to it. Another operator there cannot; it is in the group all the same, so that it can
    be named (`refused`).
    """
    all_nodes = list(nodes)
    groups = _sharing_stores(all_nodes)
    while groups:
        around = _with_nodes_between(all_nodes, groups)
        if around == groups:
            break
        groups = around
    return groups


def _sharing_stores(nodes: list[Node]) -> dict[str, frozenset[str]]:
    users: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ProcessorNode) and isinstance(node.operation, ops.UserProcessor):
            for store in set(node.stores) - owned_stores(node, nodes).keys():
                users.setdefault(store, set()).add(node.name)
    return _united({name: frozenset(names) for names in users.values() if len(names) > 1 for name in names}, users.values())


def _united(groups: Mapping[str, frozenset[str]], more: Iterable[Iterable[str]]) -> dict[str, frozenset[str]]:
    """Groups of which no two have a node in common."""
    united: dict[str, frozenset[str]] = {}
    for names in (*groups.values(), *map(frozenset, more)):
        whole = names.union(*(united[name] for name in names if name in united))
        if len(whole) > 1:
            united |= dict.fromkeys(whole, whole)
    return united


def _with_nodes_between(nodes: list[Node], groups: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The groups with everything that comes both before and behind one of them."""
    after: dict[str, set[str]] = {node.name: set() for node in nodes}
    for node in nodes:
        for other in (*dependencies(node), *owned_stores(node, nodes).values()):
            if other in after:
                after[other].add(node.name)
    reached = {node.name: _downstream(node.name, after, groups) for node in nodes}
    rings = [{name, *(other for other in behind if name in reached[other])} for name, behind in reached.items()]
    return _united(groups, rings)


def _downstream(name: str, after: Mapping[str, set[str]], groups: Mapping[str, frozenset[str]]) -> set[str]:
    """What comes behind a node, where a group is one node."""
    reached, waiting = set[str](), list(groups.get(name, (name,)))
    while waiting:
        new = {member for follower in after[waiting.pop()] for member in groups.get(follower, (follower,))} - reached
        reached |= new
        waiting.extend(new)
    return reached
