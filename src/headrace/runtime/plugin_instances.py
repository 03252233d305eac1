"""The instances of Java plugins in a chain: their owner, metrics and closing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from headrace.converters.java import JavaConverter, JavaHeaderConverter
from headrace.predicates.combination import Combination
from headrace.predicates.java import JavaPredicate
from headrace.runtime.metrics import TaskRecorder
from headrace.spark.java_plugin import plugin_metrics
from headrace.transforms.java import JavaTransformation
from headrace.transforms.stages import Stage

JavaInstance = JavaTransformation | JavaPredicate | JavaConverter | JavaHeaderConverter


def java_instances(stages: Iterable[Stage], converters: Iterable[object]) -> Iterator[JavaInstance]:
    """The Java plugins among the stages of a chain and its converters."""
    parts: list[Any] = [*converters]
    for stage in stages:
        parts += [stage.transformation, stage.predicate]
    while parts:
        part = parts.pop()
        if isinstance(part, JavaInstance):
            yield part
        elif isinstance(part, Combination):
            parts += part.parts


def has_any(stages: Iterable[Stage], converters: Iterable[object]) -> bool:
    """Whether a chain has Java plugins."""
    return next(java_instances(stages, converters), None) is not None


def assign_owner(
    connector: str, task: int, stages: Iterable[Stage], converters: Iterable[object], retry: Mapping[str, int]
) -> None:
    """Assign plugins to a task: its metrics include theirs, and its `Tolerance.retry` applies to them."""
    for instance in java_instances(stages, converters):
        instance.owner = {"name": connector, "number": task, "retry": retry}


def follow(
    recorder: TaskRecorder, who: tuple[str, int], stages: Iterable[Stage], converters: Iterable[object],
    before: Callable[[], int] = lambda: 0,
) -> None:  # fmt: skip
    """Add the metrics (KIP-877) and retries of a chain's plugins to those of the task.

    Both are of the instances in the driver. who: connector and number of the task; before: retries before the chain.
    """
    connector, task = who
    instances = list(java_instances(stages, converters))
    hosts = {instance.host for instance in instances}
    recorder.follow_plugins(
        lambda: [measured for host in hosts for measured in plugin_metrics(host, connector, {str(task)})],
        lambda: before() + sum(instance.retries for instance in instances),
    )


def close(stages: Iterable[Stage], converters: Iterable[object]) -> None:
    """Close the instances in the host."""
    for instance in java_instances(stages, converters):
        instance.close()
