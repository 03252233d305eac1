"""Transformations in Java, within a compiled chain: the plugin host applies them to the records.

Consecutive ones are one call, in which records are Connect's own objects. Before the call the key and the value are written as
JSON with a schema, after it they are read again. Schemas that the plugins create are learned like those that records carry.
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
    """A stage that the plugin host applies."""

    def __init__(self, props: Mapping[str, str], prefix: str = "") -> None:
        """props: settings, which the Java class parses when it is first called."""
        super().__init__(props)
        self.prefix = prefix
        self._learned = defaultdict[tuple[int, str], LearnedData](LearnedData)  # by chain, and by key or value

    @property
    def alias(self) -> str:
        """Its name in the connector's configuration."""
        return self.prefix.removeprefix("transforms.").removesuffix(".")

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """The record as the Java class returns it. Raises PluginError if no instance of the class can be created."""
        return self.with_following([{"alias": self.alias, **described(self, self.props)}], [self], record)

    def with_following(
        self, stages: Sequence[Mapping[str, Any]], plugins: Sequence[object], record: ConnectRecord
    ) -> ConnectRecord:
        """The record after these stages, of which this is the first. stages: as the plugin host takes them; plugins: of them."""
        context = record.context

        def request() -> Mapping[str, Any]:
            request_body = {
                "kind": "stages",
                "stages": stages,
                "header": header_settings(record),
                "sink": record.offset is not None,
            }
            return {**request_body, "secrets": secrets_of([*plugins, record.headers_written])}

        id = self.call_id(tuple(stage["alias"] for stage in stages), request)
        called = f"headrace_plugin_stages({lit(id)}, {record_parts(record)})"
        out = context.scope.bind(case([(context.step_condition(), called)]))
        context.fail_with(f"{out}.failure")
        key, value = (self._learned[context.chain, part].read(context, out, part) for part in ("key", "value"))
        return replace(
            record,
            topic=f"{out}.topic",
            partition=f"{out}.partition",
            timestamp=f"{out}.timestamp",
            key=key,
            value=value,
            headers=f"{out}.headers",
            dropped=context.scope.bind(f"coalesce({out}.dropped, false)"),
        )


class _JavaStages(Transformation):
    """Consecutive stages in Java as one; the plugin host evaluates their predicates too."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        super().__init__({})
        self._stages = stages

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        first: Any = self._stages[0].transformation
        plugins = [part for stage in self._stages for part in (stage.transformation, stage.predicate)]
        return first.with_following([_stage_json(stage) for stage in self._stages], plugins, record)


def join_java_stages(stages: Sequence[Stage]) -> list[Stage]:
    """The stages, with consecutive ones in Java joined into one."""
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
    """Whether the plugin host can apply the whole stage, with its predicate."""
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
