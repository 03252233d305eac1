"""Counts the records that a connector writes in a run, as long as all of its tasks are on this worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError


@dataclass
class RunCount:
    """The count of one run."""

    before: int
    """What the worker had counted when the run began."""
    whole: bool = True
    """Whether no other worker has run a task of it: what that writes is not known here."""


class WrittenRecords:
    """The counts of the runs of this worker's connectors. For one thread."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder
        self._runs: dict[str, RunCount] = {}
        self._between: dict[str, int] = {}
        """What was counted of connectors that are in no run, when they were seen last."""

    def follow(self, name: str, status: Mapping[str, Any], running: bool) -> None:
        """Take in the status of a connector. running: whether it is in a run on this worker.

        The count of a run that has just ended can be read until the next call.
        """
        if not running:
            if name in self._between:
                self._runs.pop(name, None)
            self._between[name] = self._herder.metrics.written(name)
            return
        run = self._runs.get(name)
        if run is None or name in self._between:
            run = self._runs[name] = RunCount(self._between.pop(name, 0))
        run.whole = run.whole and self._all_here(status)

    def keep(self, names: set[str]) -> None:
        """Forget deleted connectors."""
        for known in (self._runs, self._between):
            for name in known.keys() - names:
                del known[name]

    def count(self, name: str) -> int | None:
        """Records of the current run, or of the one that has just ended; None: not known."""
        run = self._runs.get(name)
        return max(0, self._herder.metrics.written(name) - run.before) if run and run.whole else None

    def _all_here(self, status: Mapping[str, Any]) -> bool:
        """Whether no other worker of the group has a task; the status of a worker that has left may still name it."""
        others = {task["worker_id"] for task in status["tasks"]} - {self._herder.worker_id}
        if not others:
            return True
        try:
            return others.isdisjoint(self._herder.workers())
        except HeadraceError:  # the cluster is away
            return False
