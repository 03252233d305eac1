"""Connect's three internal topics, from a worker's settings; settings without effect are logged as warnings.

Sources: KIP-26, KIP-605 (further topic settings).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from headrace.config.prefixes import under
from headrace.errors import ConfigError
from headrace.kafka.internal_topics import CREATION, WorkerTopic
from headrace.runtime.distributed_config import DistributedConfig

log = structlog.get_logger(__name__)

_OWN_SETTINGS = {"topic", "partitions", "replication.factor", "cleanup.policy"}


def offset_topic(props: Mapping[str, str]) -> WorkerTopic:
    """The topic of source offsets, from worker settings. Raises ConfigError."""
    return _topic(props, "offset.storage.", "source connector offsets", _setting(props, "offset.storage.partitions"))


def status_topic(props: Mapping[str, str]) -> WorkerTopic:
    """The topic of states and active topics, from worker settings. Raises ConfigError."""
    return _topic(props, "status.storage.", "connector and task statuses", _setting(props, "status.storage.partitions"))


def config_topic(props: Mapping[str, str]) -> WorkerTopic:
    """The topic of configurations, from worker settings; always one partition. Raises ConfigError."""
    partitions_text = props.get("config.storage.partitions")
    if partitions_text is not None:
        log.warning("Ignoring 'config.storage.partitions=%s' setting, since config topic partitions is always 1", partitions_text)
    return _topic(props, "config.storage.", "connector configurations", partitions=1)


def _topic(props: Mapping[str, str], prefix: str, holds: str, partitions: int) -> WorkerTopic:
    settings = {name: str(value) for name, value in under(props, prefix).items()}
    name = _setting(props, f"{prefix}topic")
    if not name:
        raise ConfigError.missing(f"{prefix}topic")
    if "cleanup.policy" in settings:
        policy = settings["cleanup.policy"]
        log.warning("Ignoring '%scleanup.policy=%s' setting, since compaction is always used", prefix, policy)
    return WorkerTopic(
        name=name,
        setting=f"{prefix}topic",
        holds=holds,
        partitions=partitions,
        replication_factor=_setting(props, f"{prefix}replication.factor"),
        configs={name: value for name, value in settings.items() if name not in _OWN_SETTINGS},
        create=_setting(props, CREATION),
    )


def _setting(props: Mapping[str, str], name: str) -> Any:
    return DistributedConfig.definition().value(name, props)
