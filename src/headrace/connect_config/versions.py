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
from headrace.errors import BadRequestError, ConfigError

T = TypeVar("T", bound=Any)
_PARTS = 8  # of a version, at most
_RANGE = re.compile(r"(?P<open>[\[(])(?P<low>[^,\[\]()]*)(?P<comma>,?)(?P<high>[^,\[\]()]*)(?P<close>[\])])")


@dataclass(frozen=True)
class VersionRange:
    """A range as Maven writes them; an empty bound is none."""

    low: str
    high: str
    low_open: bool = False
    high_open: bool = False

    def contains(self, version: str) -> bool:
        """Whether the version lies in the range."""
        at = _key(version)
        above = not self.low or (_key(self.low) < at if self.low_open else _key(self.low) <= at)
        below = not self.high or (at < _key(self.high) if self.high_open else at <= _key(self.high))
        return above and below

    def __str__(self) -> str:
        return f"{'(' if self.low_open else '['}{self.low},{self.high}{')' if self.high_open else ']'}"


def version_range(text: str | None) -> VersionRange | None:
    """Read a version setting.

    None for no requirement (absent or `latest`). Raises ConfigError for a range that is none.
    """
    if text is None or text == "latest":
        return None
    text = text.strip()
    match = _RANGE.fullmatch(text)
    if not match:
        if any(mark in text for mark in ",[]()"):
            raise ConfigError(f"Range defies version ordering: [{text}]")
        return VersionRange(text, text)
    low, high = match["low"].strip(), match["high"].strip() if match["comma"] else match["low"].strip()
    if low and high and _key(high) < _key(low):
        raise ConfigError(f"Range defies version ordering: {text}")
    return VersionRange(low, high, match["open"] == "(", match["close"] == ")")


def with_version(plugin: type[Any], wanted: str | None) -> type[Any]:
    """The newest version of a plugin's class that is wanted. Raises BadRequestError in Kafka's words if there is none."""
    asked, there = version_range(wanted), plugins.versions(plugin)
    fitting = [cls for cls in there if asked is None or (wanted and asked.contains(str(cls.version)))]
    if fitting:
        return fitting[-1]
    raise BadRequestError(
        f"Plugin {plugin.plugin_name} not found that matches the version range {asked}, "
        f"available versions: {java_text([str(cls.version) for cls in there])}"
    )


def by_version(plugins: Iterable[T]) -> list[T]:
    """Whatever has a `version`, in ascending order of it."""
    return sorted(plugins, key=lambda plugin: _key(str(plugin.version)))


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
        """Raise ConfigError for a malformed range, and in Kafka's words if no version that is there lies in it."""
        super().__call__(name, value)
        try:
            with_version(self._plugin, value)
        except BadRequestError as error:
            raise ConfigError(error.message) from None


def installed(cls: type[Any] | None) -> Recommender:
    """Recommend the versions that there are of a plugin's class (None: none)."""
    versions = [] if cls is None else [str(other.version) for other in plugins.versions(cls)]
    return Recommender(lambda _name, _parsed: list(versions))


def _key(version: str) -> list[tuple[int, int, str]]:
    """Sorts as Maven does: by number, words before numbers (1.0-rc1 < 1.0), what is not given is 0 (4.3 = 4.3.0)."""
    parts = [part for part in re.split(r"[.\-_+]", version) if part]
    key = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]
    return key + [(1, 0, "")] * (_PARTS - len(key))
