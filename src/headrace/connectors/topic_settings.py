"""The settings of a new topic, which a source connector may change (KIP-158, its earlier revision)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class TopicSettings:
    """The settings of a topic that does not exist yet."""

    name: str
    """The final topic name, after the transforms."""
    partitions: int
    """How many; -1: the broker's default."""
    replication_factor: int
    """-1: the broker's default."""
    configs: Mapping[str, str]
    """Topic-level settings, such as `cleanup.policy`; for all others the broker's defaults count."""

    def with_configs(self, configs: Mapping[str, str]) -> Self:
        """The settings with these topic-level settings added or replaced."""
        return replace(self, configs={**self.configs, **configs})
