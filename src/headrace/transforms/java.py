"""Transformations in Java, in the midst of a compiled chain: the records go to the host of plugins and come back.

Consecutive ones are one call, in which records are Connect's own objects. Before it the key and the value become JSON with a
schema, and after it they are read again; schemas that the plugins make are learned as those are that come with records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headrace.converters.connect_data import LearnedData, header_settings, record_parts
from headrace.predicates.java import JavaPredicate
from headrace.spark.java_call import ChainPlugin, described, secrets_of
from headrace.transforms.base import Transformation
from headrace.values.sql import case, lit

if TYPE_CHECKING:
    from headrace.transforms.stages import Stage
    from headrace.values.record import ConnectRecord


class JavaTransformation(ChainPlugin, Transformation):
    """A stage that the host of plugins applies."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when it is first called."""
        super().__init__(props)
        self._learned = defaultdict[tuple[int, str], LearnedData](LearnedData)  # by chain, and by key or value

    @property
    def alias(self) -> str:
        """Its name in the connector's configuration."""
        return self.prefix.removeprefix("transforms.").removesuffix(".")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """The record after the class has changed it. Raises PluginError if there can be no instance of it."""
        return self.with_others([{"alias": self.alias, **described(self, self.props)}], [self], record)

    def with_others(self, stages: Sequence[Mapping[str, Any]], plugins: Sequence[object], record: ConnectRecord) -> ConnectRecord:
        """The record after all of these stages (as the host takes them), of which this is the first, with their plugins."""
        run = record.run

        def request() -> Mapping[str, Any]:
            made = {"kind": "stages", "stages": stages, "header": header_settings(record), "sink": record.offset is not None}
            return {**made, "secrets": secrets_of([*plugins, record.headers_written])}

        id = self.call_id(tuple(stage["alias"] for stage in stages), request)
        called = f"headrace_plugin_stages({lit(id)}, {record_parts(record)})"
        out = run.scope.bind(case([(run.reached(), called)]))
        run.fail_with(f"{out}.failure")
        key, value = (self._learned[run.chain, part].read(run, out, part) for part in ("key", "value"))
        return replace(
            record,
            topic=f"{out}.topic",
            partition=f"{out}.partition",
            timestamp=f"{out}.timestamp",
            key=key,
            value=value,
            headers=f"{out}.headers",
            dropped=run.scope.bind(f"coalesce({out}.dropped, false)"),
        )


class _JavaStages(Transformation):
    """Consecutive stages in Java as one: their predicates are asked where they run."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        first: Any = self._stages[0].transformation
        plugins = [part for stage in self._stages for part in (stage.transformation, stage.predicate)]
        return first.with_others([_stage_json(stage) for stage in self._stages], plugins, record)


def join_java_stages(stages: Sequence[Stage]) -> list[Stage]:
    """The same stages, of which consecutive ones in Java are one."""
    joined: list[Stage] = []
    group: list[Stage] = []
    for stage in [*stages, None]:
        if stage is not None and _runs_in_host(stage):
            group.append(stage)
            continue
        if group:
            first = replace(group[0], transformation=_JavaStages(group), predicate=None, predicate_alias=None, negate=False)
            joined.append(first)
            group = []
        if stage is not None:
            joined.append(stage)
    return joined


def _runs_in_host(stage: Stage) -> bool:
    """Whether the host can take the stage as it is."""
    return isinstance(stage.transformation, JavaTransformation) and (
        stage.predicate is None or isinstance(stage.predicate, JavaPredicate)
    )


def _stage_json(stage: Stage) -> dict[str, Any]:
    transformation, predicate = stage.transformation, stage.predicate
    assert isinstance(transformation, JavaTransformation)
    return {
        "alias": stage.alias,
        **described(transformation, transformation.props),
        "predicate": described(predicate, predicate.props) if isinstance(predicate, JavaPredicate) else None,
        "predicate_alias": stage.predicate_alias,
        "negate": stage.negate,
    }
