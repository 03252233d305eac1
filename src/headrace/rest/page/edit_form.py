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
    """Its place in the form, by which errors find their field."""
    key: str
    value: str
    definition: Mapping[str, Any] | None
    """None where the plugin does not define it."""
    recommended: Sequence[str]
    """Values to choose from, or to begin with."""
    owner: str | None = None
    """Of a setting that is not defined: the defined one that its name begins with, such as a converter's."""


@dataclass(frozen=True)
class EditGroup:
    """The settings of one group of the definitions."""

    name: str
    rows: Sequence[EditRow]
    """Those that are set, have to be, or are of high importance."""
    more: Sequence[EditRow]
    """The others."""


def groups_of(config: Mapping[str, str], configs: Iterable[Mapping[str, Any]]) -> list[EditGroup]:
    """The form of a configuration; configs: what validation says of each setting that is known. Common settings come first, then
    groups in which something has to be set.
    """
    known = {one["definition"]["name"]: one for one in configs if one["definition"]["name"] != "name"}
    by_group: dict[str, list[str]] = {_COMMON: []}
    for key in dict.fromkeys([*known, *config]):
        by_group.setdefault(_group(key, known.get(key)), []).append(key)
    if _OTHER in by_group:
        by_group[_OTHER] = by_group.pop(_OTHER)  # at the end
    needed = {name: any(_is_needed(known.get(key)) for key in keys) for name, keys in by_group.items()}
    names = sorted(by_group, key=lambda name: (name != _COMMON, name == _OTHER, not needed[name]))
    found, at = [], 0
    for name in names:
        shown = [key for key in by_group[name] if key in config or _stands_out(known.get(key))]
        keys = [*shown, *(key for key in by_group[name] if key not in shown)]
        rows = [_row(at + n, key, config.get(key, ""), known) for n, key in enumerate(keys)]
        found.append(EditGroup(name, rows[: len(shown)], rows[len(shown) :]))
        at += len(rows)
    return [group for group in found if group.rows or group.more]


def _group(key: str, one: Mapping[str, Any] | None) -> str:
    if key.startswith("topic.creation."):
        return _TOPIC_CREATION
    return (one["definition"]["group"] if one else None) or _OTHER


def _is_needed(one: Mapping[str, Any] | None) -> bool:
    return one is not None and one["definition"]["required"]


def _stands_out(one: Mapping[str, Any] | None) -> bool:
    if one is None or one["definition"]["name"].endswith(_PLUGIN_VERSION):
        return False
    return one["definition"]["importance"] == "HIGH" or (_is_needed(one) and not one["value"]["value"])


def _row(at: int, key: str, value: str, known: Mapping[str, Mapping[str, Any]]) -> EditRow:
    if (one := known.get(key)) is None:
        owners = (other for other in known if key.startswith(other + "."))
        return EditRow(at, key, value, None, (), max(owners, key=len, default=None))
    definition, recommended = one["definition"], one["value"]["recommended_values"]
    if not recommended and definition["type"] == "BOOLEAN":
        recommended = ("true", "false")
    return EditRow(at, key, value, definition, recommended)
