"""Facts of a worker: version, assignment, data plane, memory; of this worker, and of all in the group."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request

from headrace import __version__
from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError, NotFoundError
from headrace.rest.forwarding import WorkerClient
from headrace.runtime.states import FAILED, UNASSIGNED
from headrace.spark.plane import running_planes

ANSWERS, SILENT, GONE = "answers", "silent", "gone"
_STARTED_S = time.time()
_PAGE_BYTES = 4096
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class WorkerRow:
    """A worker of the group."""

    worker_id: str
    state: str
    """answers; silent: a member of the group that does not answer; gone: no member, but statuses still name it."""
    connectors: int
    """That run there, as their statuses say."""
    tasks: int
    failed: int
    """Of these connectors and tasks."""
    facts: Mapping[str, Any] | None
    """Its own facts, None if it does not answer."""


def worker_facts(herder: Herder) -> dict[str, Any]:
    """The answer of `GET /headrace/worker`: of this worker."""
    planes = running_planes()
    return {
        "worker_id": herder.worker_id,
        "version": __version__,
        "python": platform.python_version(),
        "started_ms": int(_STARTED_S * 1000),
        **herder.assignment_body(),
        "data_plane": {"feeds": sum(p.size() for p in planes), "lanes": sum(p.lanes() for p in planes)} if planes else None,
        "memory_bytes": _memory(),
        "jvm": _jvm(),
    }


def _memory() -> int | None:
    """The resident memory of the process, None if the system does not provide it."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE_BYTES
    except (OSError, ValueError, IndexError):
        return None


def _jvm() -> dict[str, int] | None:
    """The heap of Spark's driver, None before Spark has been started."""
    spark = getattr(sys.modules.get("pyspark.sql"), "SparkSession", None)
    running = getattr(spark, "_instantiatedSession", None)
    if running is None:
        return None
    try:
        runtime = running.sparkContext._jvm.java.lang.Runtime.getRuntime()
        return {"used_bytes": int(runtime.totalMemory() - runtime.freeMemory()), "max_bytes": int(runtime.maxMemory())}
    except Exception:  # the JVM is ending
        return None


class GroupWorkers:
    """The workers of the group, each with its own facts."""

    def __init__(self, worker_client: WorkerClient) -> None:
        self._worker_client = worker_client

    def body(self, herder: Herder, request: Request) -> dict[str, Any]:
        """The body of `GET /headrace/workers`. request: of the user."""
        problem = None
        try:
            members = herder.workers()
        except HeadraceError as error:
            members, problem = [herder.worker_id], f"The group's members are not known: {error}"
        loads = _loads(herder)
        worker_ids = [*members, *sorted(loads.keys() - set(members))]
        other_workers = [worker for worker in worker_ids if worker != herder.worker_id]
        facts = self._worker_client.get_from_all(other_workers, ["headrace", "worker"], {}, request)
        facts[herder.worker_id] = worker_facts(herder)
        rows = [
            WorkerRow(
                worker,
                _state(worker in members or problem is not None, facts[worker]),
                *loads.get(worker, (0, 0, 0)),
                facts[worker],
            )
            for worker in worker_ids
        ]
        return {"workers": [asdict(row) for row in rows], "problem": problem}


def _state(is_member: bool, facts: Mapping[str, Any] | None) -> str:
    return ANSWERS if facts else SILENT if is_member else GONE


def _loads(herder: Herder) -> dict[str, tuple[int, int, int]]:
    """Connectors, tasks, and how many of both have failed, by worker, as statuses say."""
    loads: dict[str, tuple[int, int, int]] = {}
    for name in herder.connectors():
        try:
            status = herder.status(name)
        except NotFoundError:  # deleted meanwhile, or without a status so far
            continue
        for part, is_task in ((status["connector"], 0), *((task, 1) for task in status["tasks"])):
            if part["state"] == UNASSIGNED:
                continue
            connectors, tasks, failed = loads.get(part["worker_id"], (0, 0, 0))
            failed += part["state"] == FAILED
            loads[part["worker_id"]] = (connectors + 1 - is_task, tasks + is_task, failed)
    return loads
