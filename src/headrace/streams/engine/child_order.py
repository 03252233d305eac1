"""The order within one record: Kafka Streams gives it to one child of a node with all that follows, and then to the next.

Places in the order of a task (`o`) are compared number by number, so the number of the child behind a place gives this order.
Only nodes whose ways meet again need it: behind others nothing can see which came first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.streams.engine.flows import Changes, Flow, Records
from headrace.streams.nodes import Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ChildOrder = Mapping[tuple[str, str], int]
"""By parent and child, the number of the child among its parent's."""


def child_order(
    nodes: Sequence[Node], children: Mapping[str, tuple[Node, ...]], dependencies: Callable[[Node], tuple[str, ...]]
) -> ChildOrder:
    """The children that need a place. nodes: of a sub-topology; children: in the order in which they get a record; needs: the
    nodes that a node takes something from.
    """
    after: dict[str, set[str]] = {node.name: set() for node in nodes}
    for node in nodes:
        for other in dependencies(node):
            if other in after:
                after[other].add(node.name)
    numbers: dict[tuple[str, str], int] = {}
    for parent, siblings in children.items():
        reached = [_downstream(child.name, after) for child in siblings]
        if any(behind & earlier for i, behind in enumerate(reached) for earlier in reached[:i]):
            numbers |= {(parent, child.name): number for number, child in enumerate(siblings)}
    return numbers


def with_child_number(flow: Flow, number: int) -> Flow:
    """Records or changes on their way to a child with this number; of other flows nothing depends on the order."""
    if isinstance(flow, Records):
        return replace(flow, frame=_behind(flow.frame, "o", number), depth=flow.depth + 1 if flow.depth else 0)
    if isinstance(flow, Changes):
        versions = None if flow.versions is None else _behind(flow.versions, "at", number)
        puts = None if flow.puts is None else _behind(flow.puts, "o", number)
        return replace(flow, frame=_behind(flow.frame, "o", number), versions=versions, puts=puts)
    return flow


def _behind(frame: DataFrame, column: str, number: int) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.withColumn(column, F.concat(column, F.array(F.lit(number).cast("bigint"))))


def _downstream(name: str, after: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        new = after[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached
