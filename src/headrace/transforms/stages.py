"""The chain of a connector: its transformations in order, each with its predicate (Kafka's `transformationStages`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from headrace import plugins
from headrace.config import Option
from headrace.config.prefixes import under
from headrace.connect_config.enrich import chain_definition
from headrace.connect_config.packaged import location_of_connector
from headrace.connect_config.versions import with_version
from headrace.errors import ConfigError, ConnectError
from headrace.plugin_metrics import PluginMetrics
from headrace.plugins import Kind
from headrace.predicates.base import Predicate
from headrace.predicates.column_predicate import ColumnPredicate, ColumnPredicateStage
from headrace.predicates.combination import Combination
from headrace.transforms.base import Transformation
from headrace.transforms.column_lineage import ColumnOrigin, ColumnRow, Influence, RecordLineage, rows
from headrace.transforms.column_transform import UserTransform


@dataclass(frozen=True)
class Stage:
    """One transformation, applied to all records, or to those for which its predicate holds."""

    alias: str
    transformation: Transformation
    predicate: Predicate | None = None
    """None applies it to all records."""
    predicate_alias: str | None = None
    """None without a predicate."""
    negate: bool = False
    """Applied where the predicate does not hold."""


def stages(props: Mapping[str, str]) -> list[Stage]:
    """The chain of a connector's configuration, with a new instance for every use of a predicate.

    Raises ConfigError for options that validation refuses too, ConnectError for errors that are found only when a task starts:
    rules about several options, and a predicate that does not exist.
    """
    definition = chain_definition(props)
    settings = definition.parse(props)
    return [_stage(alias, props, definition.options) for alias in settings["transforms"]]


def register_metrics(chain: Iterable[Stage], metrics: PluginMetrics) -> None:
    """Let transforms and predicates that users write in Python register their metrics. metrics: of the task."""
    for stage in chain:
        if user := getattr(stage.transformation, "user", None):
            user.with_plugin_metrics(metrics.of(transformation=stage.alias))
        if user := getattr(stage.predicate, "user", None):
            user.with_plugin_metrics(metrics.of(predicate=str(stage.predicate_alias), transformation=stage.alias))


def column_lineage(chain: Iterable[Stage]) -> list[ColumnRow]:
    """The origins of each column of the record after the chain. Pure."""
    record = RecordLineage.read()
    for stage in chain:
        conditions = frozenset[ColumnOrigin]()
        if stage.predicate is not None:
            read = (record.at(path).by(Influence.CONDITION).origins for path in stage.predicate.reads())
            conditions = conditions.union(*read)
        if stage.transformation.drops:
            filters = (replace(origin, influence=Influence.FILTER) for origin in conditions)
            record = replace(record, filters=record.filters.union(filters))
            continue
        before, record = record, stage.transformation.lineage(record)
        if stage.predicate is not None:
            parts = {part: after.or_else(before[part], conditions) for part, after in record.parts.items()}
            record = replace(record, parts=parts)
    return rows(record)


def _stage(alias: str, props: Mapping[str, str], options: Mapping[str, Option]) -> Stage:
    prefix = f"transforms.{alias}."
    settings = under(props, prefix)
    predicate_alias, negate = settings.pop("predicate", None), settings.pop("negate", None)
    try:
        cls = _class(prefix, props, Kind.TRANSFORMATION)
        transformation = cls(settings).stage(prefix) if issubclass(cls, UserTransform) else cls(settings, prefix)
        if predicate_alias is None:
            return Stage(alias, transformation)
        predicate = _predicate(predicate_alias, props, options)
    except (ConfigError, ConnectError) as error:
        raise ConnectError(f"{error.java_class}: {error}") from error
    return Stage(alias, transformation, predicate, predicate_alias, str(negate).lower() == "true")


def _predicate(alias: str, props: Mapping[str, str], options: Mapping[str, Option]) -> Predicate:
    prefix = f"predicates.{alias}."
    if prefix + "type" not in options:  # the alias is not in `predicates`
        unknown = ConfigError(f"Unknown configuration '{prefix}plugin.version'")
        raise ConnectError(f"{unknown.java_class}: {unknown}") from unknown
    cls, settings = _class(prefix, props, Kind.PREDICATE), under(props, prefix)
    if issubclass(cls, ColumnPredicate):
        return ColumnPredicateStage(cls(settings), prefix)
    if issubclass(cls, Combination):  # validation has refused cycles
        return cls(settings, prefix, lambda part: _predicate(part, props, options))
    return cls(settings, prefix)


def _class(prefix: str, props: Mapping[str, str], kind: Kind) -> type:
    cls = plugins.find(props[prefix + "type"].strip(), kind)
    return with_version(cls, props.get(prefix + "plugin.version"), location_of_connector(props))
