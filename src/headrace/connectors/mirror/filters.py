"""Which topics, groups and topic settings are mirrored: MirrorMaker's default filters. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.validators import ValidList
from headrace.connectors.mirror.policies import DefaultPolicy
from headrace.errors import ConfigError


@dataclass(frozen=True)
class NameFilter:
    """Lets names through."""

    include: Sequence[str]
    """Names and Java regular expressions, as in `exclude`; one has to match the whole name."""
    exclude: Sequence[str]
    """Wins over `include`."""

    def accepts(self, name: str) -> bool:
        """Whether a name is let through."""
        return _matches(self.include, name) and not _matches(self.exclude, name)


def _matches(patterns: Sequence[str], name: str) -> bool:
    return bool(patterns) and _alternatives(patterns).fullmatch(name) is not None


def _alternatives(patterns: Sequence[str]) -> re.Pattern[str]:
    """The list as one pattern, as MirrorMaker compiles it: a comma within parentheses is an alternative, `(a,b)` is `(a|b)`."""
    return java_regex("|".join(patterns))


class ValidPatterns(ValidList):
    """A list of regular expressions, none empty or given twice."""

    def __call__(self, name: str, value: Sequence[str] | None) -> None:
        """Raise ConfigError for a list that is not allowed, and for one that Java would refuse as a pattern."""
        super().__call__(name, value)
        try:
            _alternatives(value or [])
        except JavaRegexError as error:
            raise ConfigError.invalid(name, ",".join(value or []), f"Invalid regex: {error}") from None

    def __str__(self) -> str:
        return "list of regular expressions"


@dataclass(frozen=True)
class Selection:
    """Which topics of the source are mirrored: those of the filter, heartbeats, never internal ones, never round in a circle."""

    policy: DefaultPolicy
    filter: NameFilter
    target: str
    """The alias of the target, whose own topics do not come back."""
    heartbeats: bool = True
    """Whether topics of heartbeats are mirrored whatever the filter says."""

    def accepts(self, topic: str) -> bool:
        """Whether a topic is mirrored."""
        accepted = self.filter.accepts(topic) or (self.heartbeats and self.policy.is_heartbeats(topic))
        return accepted and not self.policy.is_internal(topic) and not self.policy.is_cycle(topic, self.target)
