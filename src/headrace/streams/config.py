"""What a streams application can be configured with: Kafka's `StreamsConfig`, and `internal.topics.setup` (KIP-698).

Keys that no option knows are kept (`originals`). `topic.*` are settings of every internal topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.config import Config, Importance, Type, option
from headrace.errors import ConfigError

TOPOLOGY_OPTIMIZATION = "topology.optimization"
ENSURE_EXPLICIT_NAMING = "ensure.explicit.internal.resource.naming"
TOPIC_PREFIX_ALTERNATIVE = "__internal.override.topic.prefix__"
NO_OPTIMIZATION, OPTIMIZE = "none", "all"
REUSE_KTABLE_SOURCE_TOPICS = "reuse.ktable.source.topics"
MERGE_REPARTITION_TOPICS = "merge.repartition.topics"
SINGLE_STORE_SELF_JOIN = "single.store.self.join"
_ALL = (REUSE_KTABLE_SOURCE_TOPICS, MERGE_REPARTITION_TOPICS, SINGLE_STORE_SELF_JOIN)
_ACCEPTABLE = (
    'Acceptable values are: "+NO_OPTIMIZATION+", "+OPTIMIZE+", or a comma separated list of specific optimizations: '
    '("+REUSE_KTABLE_SOURCE_TOPICS+", "+MERGE_REPARTITION_TOPICS+" + "SINGLE_STORE_SELF_JOIN+").'
)


def optimizations(value: str) -> frozenset[str]:
    """The optimizations that a value of `topology.optimization` means. Raises ConfigError in Kafka's words."""
    names = [name.strip() for name in value.split(",")]
    if len(names) > 1 and {NO_OPTIMIZATION, OPTIMIZE} & set(names):
        raise ConfigError(f'"{value}" is not a valid optimization config. {_ACCEPTABLE}')
    if not set(names) <= {NO_OPTIMIZATION, OPTIMIZE, *_ALL}:
        raise ConfigError(f"Unrecognized config. {_ACCEPTABLE}")
    return frozenset(_ALL if names == [OPTIMIZE] else () if names == [NO_OPTIMIZATION] else names)


def _optimization(_name: str, value: Any) -> None:
    optimizations(value)


class StreamsConfig(Config):
    """The options that decide about a topology and its internal topics."""

    application_id: str = option(
        "application.id",
        Type.STRING,
        importance=Importance.HIGH,
        doc="Name of the application: prefix of its internal topics, and its consumer group.",
    )
    topology_optimization: str = option(
        TOPOLOGY_OPTIMIZATION,
        Type.STRING,
        NO_OPTIMIZATION,
        validator=_optimization,
        doc="Optimizations of the topology: `none`, `all`, or a list of `reuse.ktable.source.topics`, "
        "`merge.repartition.topics` and `single.store.self.join`.",
    )
    ensure_explicit_naming: bool = option(
        ENSURE_EXPLICIT_NAMING,
        Type.BOOLEAN,
        False,
        importance=Importance.HIGH,
        doc="Whether every store and internal topic must have a name of the user's (KIP-1111).",
    )
    replication_factor: int = option(
        "replication.factor",
        Type.INT,
        -1,
        importance=Importance.HIGH,
        doc="Replication factor of internal topics; -1: the broker's default.",
    )
    additional_retention_ms: int = option(
        "windowstore.changelog.additional.retention.ms",
        Type.LONG,
        86_400_000,
        importance=Importance.LOW,
        doc="Added to the retention of a windowed store for that of its changelog topic, to allow for clocks that differ.",
    )

    @property
    def optimizations(self) -> frozenset[str]:
        """The optimizations that are on."""
        return optimizations(self.topology_optimization)

    @property
    def topic_prefix(self) -> str:
        """What the names of internal topics begin with: the application's id, or what replaces it."""
        return str(self.originals.get(TOPIC_PREFIX_ALTERNATIVE) or self.application_id)

    @property
    def topic_configs(self) -> dict[str, str]:
        """Settings of every internal topic."""
        return {key: str(value) for key, value in self.originals_with_prefix("topic.").items()}


def topology_settings(props: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """The optimizations, and whether names have to be explicit: what a builder asks, which needs no application id yet."""
    known = (TOPOLOGY_OPTIMIZATION, ENSURE_EXPLICIT_NAMING)
    given = {key: value for key, value in props.items() if key in known}
    config = StreamsConfig({"application.id": "", **given})
    return config.optimizations, config.ensure_explicit_naming
