"""Dependencies between the operators of a topology, and groups of user processors that share stores.

Kafka Streams passes a record through all operators before the next one, so a processor finds in a store what another processor
put there for the same record. Operators process whole batches here: processors that share a store run as one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headrace.streams import operations as ops
from headrace.streams.nodes import Node, ProcessorNode

_OWNERS = (
    ops.StreamAggregate, ops.CogroupMerge, ops.TableAggregate, ops.TableSource, ops.TableFilter, ops.TableMapValues,
    ops.TableTransformValues,
)  # fmt: skip


def owns_store(node: Node, store: str) -> bool:
    """Whether a store holds the result of a DSL operator."""
    return isinstance(node, ProcessorNode) and isinstance(node.operation, _OWNERS) and node.operation.store == store


def owner_of(store: str, nodes: Iterable[Node]) -> ProcessorNode | None:
    """The DSL operator whose result a store holds, None if no operator owns it; of a cogroup the one that merges its streams."""
    owners = [node for node in nodes if isinstance(node, ProcessorNode) and owns_store(node, store)]
    merges = (node for node in owners if isinstance(node.operation, ops.CogroupMerge))
    return next(merges, owners[0] if owners else None)


def owned_stores(node: Node, nodes: Iterable[Node]) -> dict[str, str]:
    """The stores of a processor or transformer that hold results of other operators, each with its operator."""
    if not isinstance(node, ProcessorNode) or not isinstance(node.operation, ops.UserProcessor | ops.TableTransformValues):
        return {}
    others = [other for other in nodes if other != node]
    owners = {store: owner_of(store, others) for store in node.stores}
    return {store: owner.name for store, owner in owners.items() if owner is not None}


def dependencies(node: Node) -> tuple[str, ...]:
    """The nodes that have to run before a node: its parents, and the tables that it looks up."""
    operation = node.operation if isinstance(node, ProcessorNode) else None
    if isinstance(operation, ops.StreamTableJoin | ops.SubscriptionJoin):
        return (*node.parents, operation.table)
    if isinstance(operation, ops.ForeignTableJoin):
        return (*node.parents, operation.receive)
    return (*node.parents, operation.send) if isinstance(operation, ops.ResponseJoin) else node.parents


def processor_groups(nodes: Iterable[Node]) -> dict[str, frozenset[str]]:
    """By processor that shares a store, its group: itself and the processors that run together with it.

    Processors between two of a group belong to it. Other operators there are unsupported; they are in the group too, so that
    `unsupported` can name them.
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
    """Merge groups that have a node in common."""
    united: dict[str, frozenset[str]] = {}
    for names in (*groups.values(), *map(frozenset, more)):
        whole = names.union(*(united[name] for name in names if name in united))
        if len(whole) > 1:
            united |= dict.fromkeys(whole, whole)
    return united


def _with_nodes_between(nodes: list[Node], groups: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The groups with all nodes that are both upstream and downstream of one of them."""
    after: dict[str, set[str]] = {node.name: set() for node in nodes}
    for node in nodes:
        for other in (*dependencies(node), *owned_stores(node, nodes).values()):
            if other in after:
                after[other].add(node.name)
    reached = {node.name: _downstream(node.name, after, groups) for node in nodes}
    rings = [{name, *(other for other in behind if name in reached[other])} for name, behind in reached.items()]
    return _united(groups, rings)


def _downstream(name: str, after: Mapping[str, set[str]], groups: Mapping[str, frozenset[str]]) -> set[str]:
    """The nodes downstream of a node, where a group counts as one node."""
    reached, waiting = set[str](), list(groups.get(name, (name,)))
    while waiting:
        new = {member for follower in after[waiting.pop()] for member in groups.get(follower, (follower,))} - reached
        reached |= new
        waiting.extend(new)
    return reached
