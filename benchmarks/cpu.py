"""What processes use of the machine; and how much of it went to others: a reading on a busy machine is worth little."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
# proc_pid_stat(5), counted after the name: ppid; utime, stime, cutime, cstime; num_threads; rss in pages
_PARENT, _TIMES, _THREADS, _RSS = 1, slice(11, 15), 17, 21
_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def adopt_orphans() -> None:
    """Become the parent of processes whose own has ended: a worker's Java ends after it, and would count as foreign."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


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
    return sum(sum(map(int, fields[_TIMES])) for fields in _tree(pid)) / _TICKS


def parts(pid: int, mark: str) -> list[int]:
    """Return those living descendants of a process that have `mark` in their command line."""
    found = []
    for each in tree(pid):
        with suppress(OSError):  # it has just ended
            if mark.encode() in (_PROC / str(each) / "cmdline").read_bytes():
                found.append(each)
    return found


def part_seconds(pid: int, mark: str) -> float:
    """Return the CPU seconds of those living descendants of a process that have `mark` in their command line."""
    fields = _tree_pids(pid)
    return sum(sum(map(int, fields[each][_TIMES])) for each in parts(pid, mark) if each in fields) / _TICKS


def tree(pid: int) -> list[int]:
    """Return a process and its living descendants."""
    return list(_tree_pids(pid))


def tree_rss_mb(pid: int) -> float:
    """Return the resident memory of a process and its living descendants, in MiB; pages that they share count for each."""
    return sum(int(fields[_RSS]) for fields in _tree(pid)) * os.sysconf("SC_PAGE_SIZE") / 2**20


def tree_peak_mb(pid: int) -> float:
    """Return the most resident memory that a process and its living descendants have each had, summed up, in MiB."""
    peaks = []
    for found in _tree_pids(pid):
        try:
            lines = (_PROC / str(found) / "status").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        peaks += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")]
    return sum(peaks)


def tree_threads(pid: int) -> int:
    """Return the number of threads of a process and its living descendants."""
    return sum(int(fields[_THREADS]) for fields in _tree(pid))


def _tree(pid: int) -> list[list[str]]:
    """What the kernel tells of a process and its living descendants: the fields after the name."""
    return list(_tree_pids(pid).values())


def _tree_pids(pid: int) -> dict[int, list[str]]:
    stats: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
        stats[int(entry.name)] = fields
    found: dict[int, list[str]] = {}
    open_ = [pid]
    while open_:
        process = open_.pop()
        if process in stats:
            found[process] = stats[process]
        open_ += children.get(process, [])
    return found
