"""The instances of plugins in Java that a chain calls: whose they are, and when they are closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace.converters.java import JavaConverter, JavaHeaderConverter
from headrace.predicates.combination import Combination
from headrace.predicates.java import JavaPredicate
from headrace.transforms.java import JavaTransformation
from headrace.transforms.stages import Stage

JavaInstance = JavaTransformation | JavaPredicate | JavaConverter | JavaHeaderConverter


def java_instances(stages: Iterable[Stage], converters: Iterable[object]) -> Iterator[JavaInstance]:
    """Those among the stages of a chain and its converters."""
    parts: list[Any] = [*converters]
    for stage in stages:
        parts += [stage.transformation, stage.predicate]
    while parts:
        part = parts.pop()
        if isinstance(part, JavaInstance):
            yield part
        elif isinstance(part, Combination):
            parts += part.parts


def own(connector: str, task: int, stages: Iterable[Stage], converters: Iterable[object], retry: Mapping[str, int]) -> None:
    """Have plugins be those of a task: their metrics among its own, and called again as it says (`Tolerance.retry`)."""
    for instance in java_instances(stages, converters):
        instance.owner = {"name": connector, "number": task, "retry": retry}


def close(stages: Iterable[Stage], converters: Iterable[object]) -> None:
    """Have the host close what it has made of them."""
    for instance in java_instances(stages, converters):
        instance.close()
