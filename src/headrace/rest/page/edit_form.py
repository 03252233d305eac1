"""The form of a configuration: what is set and what has to be, by group, and every other setting folded below. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_COMMON, _TOPIC_CREATION, _OTHER = "Common", "Topic Creation", "Other"
_PLUGIN_VERSION = "plugin.version"


@dataclass(frozen=True)
class EditRow:
    """A setting in the form."""

    at: int
    """Its position in the form, by which errors are assigned to fields."""
    key: str
    value: str
    definition: Mapping[str, Any] | None
    """None where the plugin does not define it."""
    recommended: Sequence[str]
    """Values to choose from, or to begin with."""
    owner: str | None = None
    """Of a setting that is not defined: the defined one that its name begins with, such as a converter's."""

    @property
    def has_lines(self) -> bool:
        """Whether the value has several lines, which a field of one line would lose."""
        return "\n" in self.value or "\r" in self.value


@dataclass(frozen=True)
class EditGroup:
    """The settings of one group of the definitions."""

    name: str
    rows: Sequence[EditRow]
    """Rows that are set, required, or of high importance."""
    more: Sequence[EditRow]
    """The others."""


def groups_of(config: Mapping[str, str | None], configs: Iterable[Mapping[str, Any]]) -> list[EditGroup]:
    """The form of a configuration; configs: what validation says of each setting that is known. Common settings come first, then
    groups in which something has to be set.
    """
    defined = [config for config in configs if config["definition"]]  # none: null for a key that nothing defines
    by_name = {config["definition"]["name"]: config for config in defined if config["definition"]["name"] != "name"}
    by_group: dict[str, list[str]] = {_COMMON: []}
    for key in dict.fromkeys([*by_name, *config]):
        by_group.setdefault(_group(key, by_name.get(key)), []).append(key)
    if _OTHER in by_group:
        by_group[_OTHER] = by_group.pop(_OTHER)  # at the end
    needed = {name: any(_is_needed(by_name.get(key)) for key in keys) for name, keys in by_group.items()}
    names = sorted(by_group, key=lambda name: (name != _COMMON, name == _OTHER, not needed[name]))
    groups, at = [], 0
    for name in names:
        shown = [key for key in by_group[name] if key in config or _stands_out(by_name.get(key))]
        keys = [*shown, *(key for key in by_group[name] if key not in shown)]
        rows = [_row(at + n, key, config.get(key) or "", by_name) for n, key in enumerate(keys)]
        groups.append(EditGroup(name, rows[: len(shown)], rows[len(shown) :]))
        at += len(rows)
    return [group for group in groups if group.rows or group.more]


def _group(key: str, config: Mapping[str, Any] | None) -> str:
    if key.startswith("topic.creation."):
        return _TOPIC_CREATION
    return (config["definition"]["group"] if config else None) or _OTHER


def _is_needed(config: Mapping[str, Any] | None) -> bool:
    return config is not None and config["definition"]["required"]


def _validated(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the validation says of its value: nothing where a plugin leaves one out (`"value": null`), as Debezium's do."""
    return config["value"] or {}


def _stands_out(config: Mapping[str, Any] | None) -> bool:
    if config is None or config["definition"]["name"].endswith(_PLUGIN_VERSION):
        return False
    return config["definition"]["importance"] == "HIGH" or (_is_needed(config) and not _validated(config).get("value"))


def _row(at: int, key: str, value: str, by_name: Mapping[str, Mapping[str, Any]]) -> EditRow:
    if (config := by_name.get(key)) is None:
        owners = (prefix_owner for prefix_owner in by_name if key.startswith(prefix_owner + "."))
        return EditRow(at, key, value, None, (), max(owners, key=len, default=None))
    definition, recommended = config["definition"], _validated(config).get("recommended_values", ())
    if not recommended and definition["type"] == "BOOLEAN":
        recommended = ("true", "false")
    return EditRow(at, key, value, definition, recommended)
