"""Connect's three internal topics, from a worker's settings; settings without effect are logged as warnings.

Sources: KIP-26, KIP-605 (further topic settings).
"""

from __future__ import annotations

import structlog

from headrace.config.prefixes import under
from headrace.errors import ConfigError
from headrace.kafka.internal_topics import WorkerTopic
from headrace.runtime.distributed_config import DistributedConfig

log = structlog.get_logger(__name__)

_OWN_SETTINGS = {"topic", "partitions", "replication.factor", "cleanup.policy"}


def offset_topic(config: DistributedConfig) -> WorkerTopic:
    """The topic of source offsets. Raises ConfigError."""
    sizes = config.offset_partitions, config.offset_replication_factor
    return _topic(config, "offset.storage.", config.offset_topic, "source connector offsets", *sizes)


def status_topic(config: DistributedConfig) -> WorkerTopic:
    """The topic of states and active topics. Raises ConfigError."""
    sizes = config.status_partitions, config.status_replication_factor
    return _topic(config, "status.storage.", config.status_topic, "connector and task statuses", *sizes)


def config_topic(config: DistributedConfig) -> WorkerTopic:
    """The topic of configurations; always one partition. Raises ConfigError."""
    if (ignored := config.originals.get("config.storage.partitions")) is not None:
        log.warning("Ignoring 'config.storage.partitions=%s' setting, since config topic partitions is always 1", ignored)
    sizes = 1, config.config_replication_factor
    return _topic(config, "config.storage.", config.config_topic, "connector configurations", *sizes)


def _topic(
    config: DistributedConfig, prefix: str, name: str, holds: str, partitions: int, replication_factor: int
) -> WorkerTopic:
    if not name:
        raise ConfigError.missing(f"{prefix}topic")
    settings = {key: str(value) for key, value in under(config.originals, prefix).items() if value is not None}
    if "cleanup.policy" in settings:
        policy = settings["cleanup.policy"]
        log.warning("Ignoring '%scleanup.policy=%s' setting, since compaction is always used", prefix, policy)
    return WorkerTopic(
        name=name,
        setting=f"{prefix}topic",
        holds=holds,
        partitions=partitions,
        replication_factor=replication_factor,
        configs={key: value for key, value in settings.items() if key not in _OWN_SETTINGS},
        create=config.internal_topics_creation,
    )
