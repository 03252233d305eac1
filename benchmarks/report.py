"""Results: a table on the terminal and a JSON file under benchmarks/results."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.cpu import CpuTime, foreign_share
from benchmarks.java import java_version

BUSY = 0.03
KAFKA = "4.3.0"
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One measured quantity: the value of every round on both sides (empty: that side was not measured)."""

    name: str
    unit: str
    ours: Sequence[float]
    peer: Sequence[float]
    missed: Sequence[str] = ()
    """Why a side has no value in a round: a sentence for each."""

    @property
    def ratio(self) -> float | None:
        """Median of ours / median of the peer's."""
        return round(median(self.ours) / median(self.peer), 3) if self.ours and self.peer else None

    def as_json(self) -> dict[str, Any]:
        """Return the row of the results file: medians, ratio, and the values of the rounds in their order."""
        return {
            "name": self.name,
            "ours": _rounded(self.ours),
            "peer": _rounded(self.peer),
            "unit": self.unit,
            "ratio": self.ratio,
            "rounds": {"ours": [round(x, 2) for x in self.ours], "peer": [round(x, 2) for x in self.peer]},
            **({"missed": list(self.missed)} if self.missed else {}),
        }


def _rounded(values: Sequence[float]) -> float | None:
    return round(median(values), 2) if values else None


def machine() -> dict[str, Any]:
    """Describe this machine and the versions under test; nothing that names the host."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "java": java_version(),
        "pyspark": version("pyspark"),
        "kafka": KAFKA,
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def show(title: str, peer: str, rows: Sequence[Row], console: Console) -> None:
    """Print the rows as a table; `peer` heads the column of the other side."""
    table = Table(title=title)
    table.add_column("measured", style="bold")
    for heading in ("headrace", peer, "unit", "ratio", "rounds: headrace", f"rounds: {peer}"):
        table.add_column(heading, justify="left" if heading == "unit" else "right")
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(
            row.name,
            _text(_rounded(row.ours)),
            _text(_rounded(row.peer)),
            row.unit,
            ratio,
            *map(_texts, (row.ours, row.peer)),
        )
    console.print(table)
    for sentence in dict.fromkeys(sentence for row in rows for sentence in row.missed):
        console.print(f"not measured: {sentence}", markup=False, highlight=False)


@contextmanager
def watched(foreign: list[float | None], console: Console) -> Iterator[None]:
    """Add to `foreign` the share of the machine that others take meanwhile, and warn if it is too much."""
    before = CpuTime.now()
    yield
    foreign.append(foreign_share(before))
    warn_if_busy(foreign[-1], console)


def warn_if_busy(foreign: float | None, console: Console) -> None:
    """Print a warning if processes that are not ours took more than BUSY of the machine (`foreign`, 0 to 1) meanwhile."""
    if foreign is not None and foreign > BUSY:
        console.print(f"[yellow]other processes took {foreign:.0%} of the machine: these values are too low; run it again[/]")


def _text(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _texts(values: Sequence[float]) -> str:
    return " · ".join(map(_text, values))


def save(name: str, rows: Sequence[Row], method: dict[str, Any]) -> Path:
    """Write benchmarks/results/NAME.json and return its path; `method` records the sizes that were used."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {
        "machine": machine(),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": method,
        "rows": [row.as_json() for row in rows],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return path
