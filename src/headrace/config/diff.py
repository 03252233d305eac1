"""The changes of an `apply`: compares running configurations with desired ones. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from headrace.config.secrets import Secrets, stands_for

Config = Mapping[str, str | None]


class Action(StrEnum):
    """The action for a connector."""

    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"
    KEEP = "keep"


@dataclass(frozen=True)
class ChangedSetting:
    """A key that differs."""

    key: str
    old: str | None
    """None if the key is new."""
    new: str | None
    """None if the key is to go."""


@dataclass(frozen=True)
class Diff:
    """What becomes of a connector."""

    name: str
    """Of the connector."""
    action: Action
    settings: tuple[ChangedSetting, ...] = ()
    """The keys that differ, by name."""
    unchanged: int = 0
    not_known: tuple[str, ...] = ()
    """Keys whose running value is hidden from the user who compares, and may be the desired one."""

    def masked(self, secrets: Secrets) -> Diff:
        """The diff without secrets, for display."""
        shown = (replace(s, old=secrets.shown(s.key, s.old), new=secrets.shown(s.key, s.new)) for s in self.settings)
        return replace(self, settings=tuple(shown))


def compare(name: str, running: Config | None, desired: Config | None, hides: bool = False) -> Diff:
    """One connector: running, wanted, or both. A key whose value is null counts as one that is not there.

    hides: whether secrets are hidden in the running configuration.
    """
    old = {key: value for key, value in (running or {}).items() if value is not None}
    new = {key: value for key, value in (desired or {}).items() if value is not None}
    if desired is None:
        return Diff(name, Action.DELETE)
    keys = sorted(old.keys() | new.keys())
    not_known = tuple(key for key in keys if key in new and hides and stands_for(old.get(key), new[key]))
    changed = [key for key in keys if old.get(key) != new.get(key) and key not in not_known]
    settings = tuple(ChangedSetting(key, old.get(key), new.get(key)) for key in changed)
    action = Action.CREATE if running is None else Action.CHANGE if settings else Action.KEEP
    return Diff(name, action, settings, len(keys) - len(settings) - len(not_known), not_known)


def plan(running: Mapping[str, Config], desired: Mapping[str, Config], prune: bool = False, hides: bool = False) -> list[Diff]:
    """All connectors that are wanted, by name; with `prune` then those to delete, which are running and not wanted.

    hides: whether secrets are hidden in the running configurations.
    """
    diffs = [compare(name, running.get(name), desired[name], hides) for name in sorted(desired)]
    return diffs + [compare(name, running[name], None) for name in sorted(running.keys() - desired.keys()) if prune]


def summary(diffs: Iterable[Diff]) -> str:
    """`1 to create, 2 to change, 1 unchanged`."""
    words = {Action.CREATE: "to create", Action.CHANGE: "to change", Action.DELETE: "to delete", Action.KEEP: "unchanged"}
    actions = ["not known" if diff.action is Action.KEEP and diff.not_known else words[diff.action] for diff in diffs]
    return ", ".join(f"{actions.count(word)} {word}" for word in (*words.values(), "not known") if word in actions)
