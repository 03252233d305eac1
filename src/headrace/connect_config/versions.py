"""Plugin versions that a configuration asks for (KIP-891).

`1.2` means exactly that, `[1.0,2.0)` a range, `latest` whatever is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from headrace import plugins
from headrace.config import Recommender, java_text
from headrace.connect_config.maven_version import MavenVersion
from headrace.errors import BadRequestError, ConfigError, PluginVersionError

T = TypeVar("T", bound=Any)
_CLOSED = re.compile(r"[\[(][^\])]*[\])]")


@dataclass(frozen=True)
class Restriction:
    """One range in Maven's syntax."""

    low: str
    """Empty, as `high`: no bound on this side."""
    high: str
    low_open: bool = False
    """Whether `low` itself is outside; as `high_open`."""
    high_open: bool = False
    single: bool = False
    """A version in brackets alone, which has to be that one."""

    def contains(self, version: str) -> bool:
        """Whether the range contains the version."""
        if self.single and not self.low:
            return False
        at = MavenVersion(version)
        above = not self.low or (MavenVersion(self.low) < at if self.low_open else MavenVersion(self.low) <= at)
        below = not self.high or (at < MavenVersion(self.high) if self.high_open else at <= MavenVersion(self.high))
        return above and below

    def __str__(self) -> str:
        return f"{'(' if self.low_open else '['}{self.low},{self.high}{')' if self.high_open else ']'}"


@dataclass(frozen=True)
class VersionRange:
    """What a version setting asks for."""

    restrictions: tuple[Restriction, ...]
    """Of which the version has to be in one."""

    def contains(self, version: str) -> bool:
        """Whether one of the ranges contains the version."""
        return any(restriction.contains(version) for restriction in self.restrictions)

    def __str__(self) -> str:
        return ",".join(map(str, self.restrictions))


def version_range(text: str | None) -> VersionRange | None:
    """Read a version setting as Maven's `VersionRange` does; a version without brackets is exactly that.

    None for no requirement (absent or `latest`). Raises ConfigError for a range that is none.
    """
    if text is None or text == "latest":
        return None
    text = text.strip()
    if not text.startswith(("[", "(")):
        text = f"[{text}]"
    remaining, restrictions = text, list[Restriction]()
    while remaining.startswith(("[", "(")):
        closed = _CLOSED.match(remaining)
        if closed is None:
            raise ConfigError(f"Unbounded range: {text}")
        restriction = _restriction(closed[0])
        if restrictions and _overlap(restrictions[-1], restriction):
            raise ConfigError(f"Ranges overlap: {text}")
        restrictions.append(restriction)
        remaining = remaining[closed.end() :].strip().removeprefix(",").strip()
    if remaining:
        raise ConfigError(f"Only fully-qualified sets allowed in multiple set scenario: {text}")
    return VersionRange(tuple(restrictions))


def _restriction(text: str) -> Restriction:
    low, comma, high = (part.strip() for part in text[1:-1].partition(","))
    if not comma:
        if text[0] != "[" or text[-1] != "]":
            raise ConfigError(f"Single version must be surrounded by []: {text}")
        return Restriction(low, low, single=True)
    restriction = Restriction(low, high, text[0] == "(", text[-1] == ")")
    empty = MavenVersion(low) == MavenVersion(high) and (restriction.low_open or restriction.high_open)
    if low and high and (MavenVersion(high) < MavenVersion(low) or empty):
        raise ConfigError(f"Range defies version ordering: {text}")
    return restriction


def _overlap(before: Restriction, after: Restriction) -> bool:
    return bool(before.high) and (not after.low or MavenVersion(after.low) < MavenVersion(before.high))


def with_version(plugin: type[Any], version: str | None, beside: str | None = None) -> type[Any]:
    """The newest version of a plugin's class that is wanted. Raises BadRequestError in Kafka's words if available is none.

    beside: the location on `plugin.path` of the connector that uses the class: a wanted version there goes before newer ones.
    """
    requested, available = version_range(version), plugins.versions(plugin)
    fitting = [cls for cls in available if requested is None or requested.contains(str(cls.version))]
    if fitting:
        packaged = [cls for cls in fitting if beside is not None and getattr(cls, "location", None) == beside]
        return (packaged or fitting)[-1]
    kinds = {cls.plugin_kind for cls in [*plugins.every(), *plugins.java_plugins()] if cls.plugin_name == plugin.plugin_name}
    versions = [str(cls.version) for cls in available for _ in kinds or [None]]  # Kafka Connect lists them for each kind
    raise BadRequestError(
        f"Plugin {plugin.plugin_name} not found that matches the version range {requested}, "
        f"available versions: {java_text(versions)}"
    )


def missing_version(plugin: type[Any], version: str | None) -> str | None:
    """Why there is no such version of a plugin's class; None if there is, or for a malformed range, which is its own error."""
    try:
        with_version(plugin, version)
    except BadRequestError as error:
        return error.message
    except ConfigError:
        return None
    return None


def by_version(plugins: Iterable[T]) -> list[T]:
    """Whatever has a `version`, in ascending order of it."""
    return sorted(plugins, key=lambda plugin: MavenVersion(str(plugin.version)))


class ValidVersion:
    """A version, or a range of versions."""

    def __call__(self, name: str, value: str | None) -> None:
        """Raise ConfigError for a malformed range."""
        version_range(value)

    def __str__(self) -> str:
        return "a version or a range of versions"


class InstalledVersion(ValidVersion):
    """The same, of which there is one of a plugin's class."""

    def __init__(self, plugin: type[Any]) -> None:
        self._plugin = plugin

    def __call__(self, name: str, value: str | None) -> None:
        """Raise ConfigError for a malformed range, and in Kafka's words if it contains no available version."""
        super().__call__(name, value)
        try:
            with_version(self._plugin, value)
        except BadRequestError as error:
            raise PluginVersionError(error.message) from None


def installed(cls: type[Any] | None) -> Recommender:
    """Recommend the versions that there are of a plugin's class (None: none)."""
    versions = [] if cls is None else dict.fromkeys(str(version_class.version) for version_class in plugins.versions(cls))
    return Recommender(lambda _name, _parsed: list(versions))
