"""Templates to HTML. Every value is escaped, as names and records may be written by anybody."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from headrace import __version__
from headrace.rest.traces import causes, first_line, named_in
from headrace.runtime.metrics.figures import SAMPLES
from headrace.values.times import iso_of_ms

FOLDER = Path(__file__).parent
STATIC = {file.name: file.read_bytes() for file in (FOLDER / "static").iterdir() if file.suffix in (".js", ".css", ".svg")}
"""Scripts, styles and pictures by name."""
_STAMP = hashlib.sha256(b"".join(STATIC[name] for name in sorted(STATIC))).hexdigest()[:12]
_MADE = {"MASKED": "masked", "TRANSFORMATION": "changed", "IDENTITY": "unchanged"}
_DECIDES = {"CONDITION": "decides whether it is changed", "FILTER": "decides whether it is written"}
"""What a column may be to one that is made of it (`headrace.transforms.column_lineage.Influence`)."""
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))


def render(template: str, **values: Any) -> str:
    """The text of a template."""
    return _environment.get_template(template).render(values)


def number(value: float | None) -> str:
    """A figure as people read it: `1,204`, `38.2 k`, `1.2 M`; nothing for None."""
    if value is None:
        return ""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if abs(value) >= size:
            divisor = 1e3 if unit == "k" else size
            return f"{value / divisor:,.1f} {unit}"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"


def span(millis: float | None) -> str:
    """A span of time in its greatest unit: `12 s`, `3.5 h`; nothing for None."""
    if millis is None:
        return ""
    for unit, size in _UNITS:
        if millis >= size:
            value = millis / size
            return f"{value:.0f} {unit}" if value >= 10 or value == int(value) else f"{value:.1f} {unit}"
    return f"{millis:.0f} ms"


def mebibytes(value: float | None) -> str:
    """A size in memory: `812 MiB`, `1.5 GiB`; nothing for None."""
    if value is None:
        return ""
    mib = value / (1 << 20)
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"


def when(value: str | float | None) -> str:
    """A time, ISO 8601 or ms since the epoch, as ISO 8601 in UTC, which the page's script makes relative; `… ms` beyond 9999."""
    if value is None or value == "":
        return ""
    return value if isinstance(value, str) else iso_of_ms(value)


def short_class(name: str) -> str:
    """The class without its package."""
    return name.rpartition(".")[2]


def line(values: Sequence[float | None], width: int, height: int, most: int = 0) -> str:
    """An SVG path through these values, of which the greatest touches the top; empty without any, or for one value of one.

    Where a value is not known (None) the line is interrupted; one that stands alone is a dash. most: for how many values the
    width is; fewer end at the right, where now is. 0: for those that there are.
    """
    numbers = [value for value in values if value is not None]
    if not numbers or len(values) < 2:
        return ""
    top, step = max(*numbers, 1e-9), width / (max(len(values), most) - 1)
    first = width - step * (len(values) - 1)
    path, drawn = "", False
    for i, value in enumerate(values):
        if value is not None:
            x, y = first + i * step, height - (value / top) * (height - 2) - 1
            path += f"L{x:.1f},{y:.1f}" if drawn else f"M{x - 1:.1f},{y:.1f}H{x:.1f}"
        drawn = value is not None
    return path


def greatest(values: Sequence[float | None]) -> float | None:
    """Of those that are known."""
    return max((value for value in values if value is not None), default=None)


def to(path: str, **query: Any) -> str:
    """An address of the page; parameters that are empty are left out."""
    parameters = {key: value for key, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(parameters)}" if parameters else path


def static(name: str) -> str:
    """The address of a script, style or picture; it changes with its content."""
    return f"/ui/static/{name}?v={_STAMP}"


def documentation(text: str) -> Markup:
    """An option's documentation: `<code>` and backticks enclose code, everything else is text."""
    marked = re.sub(r"&lt;code&gt;(.*?)&lt;/code&gt;|`([^`]+)`", lambda m: f"<code>{m[1] or m[2]}</code>", str(escape(text)))
    return Markup(marked.replace("&lt;br/&gt;", "<br>").replace("&amp;lt;", "&lt;").replace("&amp;gt;", "&gt;"))


def by_column(sources: Iterable[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Of what a column is made, each column once, and how: `masked or unchanged` where a predicate decides; empty: unchanged.

    sources: as in `GET /headrace/lineage`, sorted by column.
    """
    columns = []
    for column, group in groupby(sources, itemgetter("column")):
        hows = {source["transformation"] for source in group}
        values, conditions = ([words[how] for how in words if how in hows] for words in (_MADE, _DECIDES))
        columns.append((column, "; ".join(filter(None, [" or ".join(values), *conditions])) if hows != {"IDENTITY"} else ""))
    return columns


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def compact(value: Any) -> str:
    """JSON on one line as text; `tojson` is for attributes and scripts, and writes `ü`, `&` and `'` as escapes."""
    return json.dumps(value, ensure_ascii=False)


_environment = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters |= {
    "number": number, "span": span, "mebibytes": mebibytes, "when": when, "short_class": short_class, "pretty": pretty,
    "first_line": first_line, "causes": causes, "named_in": named_in, "documentation": documentation, "greatest": greatest,
    "by_column": by_column, "compact": compact,
}  # fmt: skip
_environment.globals |= {"line": line, "to": to, "static": static, "version": __version__, "samples": SAMPLES}
