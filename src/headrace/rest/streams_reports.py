"""The reports of streams applications to this worker, kept in memory for a while. Thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from headrace.cluster.herder import Herder
from headrace.errors import HeadraceError, RestError
from headrace.rest.forwarding import WorkerClient
from headrace.values.times import now_ms

SILENT_MS = 35_000
"""After so long without a report an instance counts as silent: three were missed."""
_FORGOTTEN_MS, _MAX_INSTANCES, _SHOWN = 15 * 60_000, 500, 10
ENDED = ("NOT_RUNNING", "ERROR")
SILENT = "SILENT"
_WORST = ("ERROR", "PENDING_ERROR", SILENT, "REBALANCING", "RUNNING", "CREATED", "PENDING_SHUTDOWN", "NOT_RUNNING")

Json = dict[str, Any]


@dataclass
class StreamsReports:
    """The last report of each instance, of at most 500; an instance that is silent for a quarter of an hour is forgotten."""

    now_ms: Callable[[], int] = now_ms
    _reports: dict[tuple[str, str], tuple[int, Json]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, application: str, instance: str, report: Json) -> None:
        """Take a report. Raises RestError 429 if there are too many instances."""
        with self._lock:
            self._forget()
            if (application, instance) not in self._reports and len(self._reports) >= _MAX_INSTANCES:
                raise RestError(429, f"This worker keeps the reports of {_MAX_INSTANCES} instances, and has so many.")
            self._reports[application, instance] = (self.now_ms(), report)

    def instances(self) -> list[Json]:
        """The last reports, with `application`, `instance` and how long ago it was, `age_ms`."""
        with self._lock:
            self._forget()
            reports = sorted(self._reports.items())
            now = self.now_ms()
        return [
            {"application": application, "instance": instance, "age_ms": now - at, **report}
            for (application, instance), (at, report) in reports
        ]

    def _forget(self) -> None:
        oldest = self.now_ms() - _FORGOTTEN_MS
        self._reports = {key: entry for key, entry in self._reports.items() if entry[0] >= oldest}


@dataclass(frozen=True)
class Reported:
    """The reports of applications to the workers of the group."""

    instances: list[Json]
    """Their last reports, with `reported_to`: the worker."""
    commands: list[Json]
    """The commands sent to them."""
    not_reached: list[str]
    """The workers that do not answer."""


@dataclass(frozen=True)
class GroupReports:
    """The reports of applications to all workers of the group."""

    own: StreamsReports
    others: WorkerClient

    def read(self, herder: Herder, request: Request, commands: list[Json]) -> Reported:
        """The reports to every worker. request: of the user; commands: of this worker."""
        workers = [worker_id for worker_id in _members(herder) if worker_id != herder.worker_id]
        answered = self.others.get_from_all(workers, ["headrace", "streams"], {"forward": "false"}, request)
        there = {herder.worker_id: {"instances": self.own.instances(), "commands": commands}}
        there |= {worker_id: response for worker_id, response in answered.items() if response}
        return Reported(
            [
                {**instance, "reported_to": worker_id}
                for worker_id, response in there.items()
                for instance in response["instances"]
            ],
            [command for response in there.values() for command in response.get("commands", ())],
            [worker_id for worker_id, response in answered.items() if response is None],
        )


def _members(herder: Herder) -> list[str]:
    try:
        return herder.workers()
    except HeadraceError:  # the page of workers shows it
        return []


def applications(instances: Iterable[Mapping[str, Any]], commands: Iterable[Json] = ()) -> list[Json]:
    """The applications of these instances (as `instances` gives them), those in trouble first. Of an instance that reported to
    several workers the newest report counts. commands: what any of them have been asked to do.
    """
    newest_first = sorted(commands, key=lambda command: -command["asked_ms"])
    newest: dict[tuple[str, str], Json] = {}
    for instance in sorted(instances, key=lambda instance: -instance["age_ms"]):
        newest[instance["application"], instance["instance"]] = {**instance, "state": state_of(instance)}
    by_application: dict[str, list[Json]] = {}
    for (application, _), instance in sorted(newest.items()):
        by_application.setdefault(application, []).append(instance)
    folded = [
        {**_application(name, some), "commands": [command for command in newest_first if command["application"] == name][:_SHOWN]}
        for name, some in by_application.items()
    ]
    return sorted(folded, key=lambda application: (_WORST.index(application["state"]), application["application"]))


def state_of(report: Mapping[str, Any]) -> str:
    """The state of an instance: as it reported, or SILENT if it reports no more."""
    silent = report["age_ms"] > SILENT_MS and report["state"] not in ENDED
    return SILENT if silent else str(report["state"])


def _application(name: str, instances: list[Json]) -> Json:
    """State and lag are those of the active instance, as far as there is one; the topology is that of the newest report."""
    active = next((instance for instance in instances if instance["active"] and instance["state"] != SILENT), None)
    newest = min(instances, key=lambda instance: instance["age_ms"])
    shown = active or newest
    lags = [values["lag"] for values in shown["metrics"].values() if "lag" in values]
    return {
        "application": name,
        "state": active["state"] if active else min((instance["state"] for instance in instances), key=_WORST.index),
        "lag": int(sum(lags)) if active and lags else None,
        "records": int(sum(values.get("records", 0) for values in shown["metrics"].values())),
        "init": _init(shown["internal_topics"]),
        "problem": shown["error"] or shown["problem"],
        "setup": shown["setup"],
        "servers": shown.get("servers", ""),
        "topology": shown["topology"],
        "internal_topics": shown["internal_topics"],
        "metrics": shown["metrics"],
        "instances": [
            {key: instance[key] for key in ("instance", "state", "active", "paused", "version", "error", "age_ms")}
            for instance in instances
        ],
    }


def _init(topics: list[Json] | None) -> str:
    """The internal topics in a word (KIP-698): ready, missing (none is there), incomplete, misconfigured or unknown."""
    if topics is None:
        return "unknown"
    states = {topic["state"] for topic in topics}
    if "misconfigured" in states:
        return "misconfigured"
    return "ready" if states <= {"ok"} else "missing" if states == {"missing"} else "incomplete"
