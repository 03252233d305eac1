"""Which settings of a topic its copy gets (KIP-382). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headrace.connectors.mirror.filters import NameFilter


@dataclass(frozen=True)
class TopicSetting:
    """A setting of a source topic, with the value that its copy gets."""

    name: str
    value: str | None
    """None of a secret one."""
    is_default: bool
    """Kafka's own default."""
    hidden: bool = False
    """Read-only or secret."""
    static: bool = False
    """From a broker's file."""
    own: bool = True
    """Set on the topic itself."""


@dataclass(frozen=True)
class Change:
    """A setting of a topic to set or unset."""

    name: str
    value: str | None
    """None unsets it."""


@dataclass(frozen=True)
class SettingFilter:
    """Which settings are copied."""

    exclude: Sequence[str]
    """Java regular expressions of settings that are not copied."""
    source_defaults: bool = False
    """Whether what is at its default in the source is written, too."""

    def _passes(self, setting: TopicSetting) -> bool:
        return not setting.hidden and not setting.static and NameFilter([".*"], self.exclude).accepts(setting.name)

    def of_new_topic(self, settings: Iterable[TopicSetting]) -> dict[str, str]:
        """The settings that a new copy is created with."""
        copied = [s for s in settings if self._passes(s) and (not s.is_default or self.source_defaults)]
        return {s.name: s.value for s in copied if s.value is not None}

    def changes(self, settings: Iterable[TopicSetting]) -> list[Change]:
        """The settings to set and unset on an existing copy."""
        return [
            Change(s.name, None if s.is_default and not self.source_defaults else s.value) for s in settings if self._passes(s)
        ]


def needed(changes: Iterable[Change], present: Iterable[TopicSetting]) -> list[Change]:
    """The changes without those that are in effect already."""
    overridden = {s.name: s.value for s in present if s.own and not s.is_default}
    return [c for c in changes if overridden.get(c.name) != c.value]
