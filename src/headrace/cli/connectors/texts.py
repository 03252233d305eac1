"""Connectors as lines of text: a diff, the errors of a configuration, and what is safe to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.text import Text

from headrace.config.diff import Action, ChangedSetting, Diff

_MARKS = {Action.CREATE: "+", Action.CHANGE: "~", Action.DELETE: "-", Action.KEEP: "="}
_WORDS = {Action.CREATE: "new", Action.CHANGE: "changes", Action.DELETE: "is deleted", Action.KEEP: "unchanged"}
_STYLES = {"+": "green", "~": "yellow", "-": "red", "=": "dim"}


def plain(text: object, lines: bool = False) -> str:
    """A text without control characters, which a terminal would obey; they are escaped. lines: line ends and tabs may stay."""
    whitespace = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in whitespace else c.encode("unicode_escape").decode() for c in str(text))


def first_line(trace: str) -> str:
    """The first line of a trace: what went wrong."""
    return trace.strip().partition("\n")[0].strip()


def diff_lines(diff: Diff) -> Iterator[Text]:
    """What is to be done with a connector: a line for it, and one for each key that differs."""
    mark = _MARKS[diff.action]
    words = "cannot be compared" if diff.action is Action.KEEP and diff.not_known else _WORDS[diff.action]
    yield Text(f"{mark} {plain(diff.name)}: {words}", style=f"bold {_STYLES[mark]}")
    width = max((len(plain(key)) for key in (*diff.not_known, *(setting.key for setting in diff.settings))), default=0)
    for setting in diff.settings:
        mark = "+" if setting.old is None else "-" if setting.new is None else "~"
        yield Text(f"    {mark} {plain(setting.key):{width}}  {_values(setting)}", style=_STYLES[mark])
    for key in diff.not_known:
        yield Text(f"    ? {plain(key):{width}}  is hidden from this user")
    if diff.action is Action.CHANGE:
        yield Text(f"      {diff.unchanged} unchanged", style="dim")


def _values(setting: ChangedSetting) -> str:
    values = (plain(value) or '""' for value in (setting.old, setting.new) if value is not None)
    return " → ".join(values)


def config_errors(validated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Option and sentence of every error in the answer of a validation."""
    values: Iterable[Mapping[str, Any]] = (config.get("value") or {} for config in validated.get("configs", ()))
    return [(str(value.get("name")), error) for value in values for error in value.get("errors") or ()]
