"""The order within one record: Kafka Streams passes it to the first child of a node, with everything downstream, and then to the
next child.

Places in the order of a task (`o`) are compared number by number, so the appended number of the child gives this order. Only
children whose downstream nodes meet again need it: elsewhere the order cannot be observed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headrace.sql_functions import F
from headrace.streams.engine.flows import Changes, Flow, Records
from headrace.streams.nodes import Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ChildOrder = Mapping[tuple[str, str], int]
"""By parent and child, the number of the child among its parent's."""


def child_order(
    nodes: Sequence[Node], children: Mapping[str, tuple[Node, ...]], dependencies: Callable[[Node], tuple[str, ...]]
) -> ChildOrder:
    """The children that need a number. nodes: of a sub-topology; children: in the order in which they get a record; dependencies:
    the nodes that have to run before a node.
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
    """Records or changes with the number of the child appended to their places; other flows do not depend on the order."""
    if isinstance(flow, Records):
        return replace(flow, frame=_behind(flow.frame, "o", number), depth=flow.depth + 1 if flow.depth else 0)
    if isinstance(flow, Changes):
        versions = None if flow.versions is None else _behind(flow.versions, "at", number)
        puts = None if flow.puts is None else _behind(flow.puts, "o", number)
        return replace(flow, frame=_behind(flow.frame, "o", number), versions=versions, puts=puts)
    return flow


def _behind(frame: DataFrame, column: str, number: int) -> DataFrame:
    return frame.withColumn(column, F.concat(column, F.array(F.lit(number).cast("bigint"))))


def _downstream(name: str, after: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        new = after[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached
