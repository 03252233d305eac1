"""Options as a Markdown table."""

from __future__ import annotations

import re
from collections.abc import Iterable

from headrace.config.option import Option
from headrace.config.types import to_text

_HEADER = "| Option | Type | Default | Valid values | Importance | What it does |\n|---|---|---|---|---|---|\n"
_HTML = re.compile(r"</?(p|ul|li|br|b|i|a)( [^>]*)?/?>")


def table(options: Iterable[Option]) -> str:
    """Return one row per option, under a heading per group, in order of definition."""
    by_group: dict[str | None, list[Option]] = {}
    for option in options:
        by_group.setdefault(option.group, []).append(option)
    parts = []
    for group, members in by_group.items():
        heading = f"## {group}\n\n" if group else ""
        parts.append(heading + _HEADER + "".join(_row(option) for option in members))
    return "\n".join(parts)


def _row(option: Option) -> str:
    cells = (
        f"`{option.name}`",
        option.type.lower(),
        _default(option),
        f"`{_cell(str(option.validator))}`" if option.validator and str(option.validator) else "",
        option.importance.lower(),
        _cell(_HTML.sub(" ", option.doc))
        + (f" **Without effect here**: {option.without_effect}." if option.without_effect else ""),
    )
    return "| " + " | ".join(cells) + " |\n"


def _default(option: Option) -> str:
    if option.required:
        return "required"
    text = to_text(option.default, option.type)
    if text is None:
        return "null"
    return f"`{_cell(text)}`" if text else '`""`'


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<code>", "`").replace("</code>", "`")
