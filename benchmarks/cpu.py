"""How much of the machine went to others while something was measured: a reading on a busy machine is worth little."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 1, slice(11, 15)  # proc_pid_stat(5), counted after the name: ppid; utime, stime, cutime, cstime


@dataclass(frozen=True)
class CpuTime:
    """At `at` seconds (monotonic): CPU seconds of the whole machine, and of this process and all that it started."""

    at: float
    machine: float
    own: float

    @classmethod
    def now(cls) -> Self | None:
        """Read the clocks; None where there is no /proc."""
        if not (_PROC / "stat").exists():
            return None
        user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, (_PROC / "stat").read_text().split()[1:9])
        return cls(time.monotonic(), (user + nice + system + irq + softirq) / _TICKS, tree_seconds(os.getpid()))


def foreign_share(since: CpuTime | None) -> float | None:
    """Return the share (0 to 1) of all cores that processes other than ours have used since then; None if unknown."""
    now = CpuTime.now()
    if since is None or now is None:
        return None
    foreign = (now.machine - since.machine) - (now.own - since.own)
    return round(max(0.0, foreign / ((now.at - since.at) * (os.cpu_count() or 1))), 3)


def tree_seconds(pid: int) -> float:
    """Return the CPU seconds that a process and its living descendants have used; each counts its children that have ended."""
    seconds: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
        seconds[int(entry.name)] = sum(map(int, fields[_TIMES])) / _TICKS
    total, open_ = 0.0, [pid]
    while open_:
        process = open_.pop()
        total += seconds.get(process, 0.0)
        open_ += children.get(process, [])
    return total
