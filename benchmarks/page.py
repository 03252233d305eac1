"""The operator's page of a worker with 1,000 connectors: how long each of its requests takes, and what ten open pages cost."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from tests.browser import FLAGS, NO_BROWSER, browser_path

from benchmarks import clusters, load, report
from benchmarks.latency import percentile
from benchmarks.options import Options
from benchmarks.ours import Headrace
from benchmarks.process import BenchmarkError

_CHANGED = "page-0"
NOWHERE = "127.0.0.1:1"
PAGES = 10
LETTERS, APPLICATION = "page-letters", "page-application"
COLD_S = 2.2
"""Longer than an overview is kept."""
_LIMIT_S, _POLL_S = 600, 1.0
_C = "name=page-0"
PATHS = (
    "/ui", "/ui?page=7&sort=-lag", "/ui?q=page-9&state=STOPPED", "/ui/rows", f"/ui/connector?{_C}", f"/ui/connector/head?{_C}",
    f"/ui/connector/live?{_C}", f"/ui/connector/lag?{_C}", f"/ui/connector/topics?{_C}", f"/ui/connector/offsets?{_C}",
    f"/ui/connector?{_C}&tab=configuration", f"/ui/connector/history?{_C}", f"/ui/connector/log?{_C}",
    f"/ui/connector/log/entries?{_C}", f"/ui/edit?{_C}", "/ui/new?plugin=KafkaSourceConnector", "/ui/graph",
    "/ui/graph?connector=page-0", "/ui/dead-letters/topics", "/ui/workers/rows", "/ui/workers/log-levels", "/ui/streams/rows",
    "/ui/audit", f"/ui/connector/charts?{_C}", "/ui/matching", f"/ui/dead-letters/page?topic={LETTERS}",
    f"/ui/streams/application?application={APPLICATION}",
    "/headrace/overview", "/headrace/figures", "/headrace/lineage", "/headrace/lineage?columns=true",
)  # fmt: skip
"""Every screen, and every part of one that is loaded or renewed by itself."""
COLD_PATHS = ("/ui", "/ui/rows", "/ui/matching", f"/ui/connector/live?{_C}", "/headrace/overview")
"""Those that show what is kept for two seconds: asked without a pause, most answers are of the same overview."""
_REPORT: dict[str, Any] = {
    "version": "1", "state": "RUNNING", "active": True, "paused": False, "error": None, "setup": "manual",
    "topology": "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])\n",
    "internal_topics": [{"name": "t", "kind": "changelog", "partitions": 1, "replication_factor": 1, "state": "ok"}],
    "problem": None, "metrics": {"sub-topology-0": {"lag": 3.0, "records": 5.0}},
}  # fmt: skip


_LOOKED_AT = {"overviews": ["/ui"] * PAGES, "connectors": [f"/ui/connector?name=page-{number}" for number in range(PAGES)]}
"""What ten people look at."""


def run(options: Options, console: Console) -> None:
    """Measure, print the table, and write results/page.json unless the run is quick."""
    if browser_path() is None:
        raise BenchmarkError(NO_BROWSER)
    connectors, running, asks, idle_s = (40, 10, 5, 5) if options.quick else (1000, 100, 100, 30)
    rows, foreign = list[report.Row](), list[float | None]()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch, clusters.two_brokers() as brokers:
        worker = Headrace(*brokers, "page", Path(scratch))
        with worker, report.watched(foreign, console):
            _create(worker, connectors, running)
            worker.call("PUT", f"/headrace/streams/{APPLICATION}/one", _REPORT)
            cold_asks = max(2, asks // 10)
            answers = [*_answers(worker, PATHS, asks), *_answers(worker, COLD_PATHS, cold_asks, COLD_S), *_changes(worker, asks)]
            answers += _bulk(worker, connectors, running, cold_asks)
            rows += [report.Row(f"p99 {request}", "ms", [value], []) for request, value in answers]
            time.sleep(idle_s)
            rows.append(report.Row("idle-cpu", "% of a core", [worker.idle(idle_s)["idle-cpu"]], []))
            for kind, paths in _LOOKED_AT.items():
                with _open_pages(worker.url, paths):
                    time.sleep(idle_s)
                    rows.append(report.Row(f"idle-cpu-{PAGES}-{kind}", "% of a core", [worker.idle(idle_s)["idle-cpu"]], []))
    report.show(f"The page with {connectors} connectors", "-", rows, console)
    if not options.quick:
        method = {"connectors": connectors, "running": running, "requests": asks, "idle_s": idle_s, "foreign_cpu": foreign}
        console.print(f"written: {report.save('page', rows, method)}")


def _create(worker: Headrace, connectors: int, running: int) -> None:
    """Mirrors of a topic each: so many that run, a tenth as many that fail, and the others stopped."""
    worker.partitions = 1
    topics = [f"page-topic-{number}" for number in range(running)]
    load.create_topics(worker.source, topics, partitions=1)
    load.create_topics(worker.destination, [LETTERS], partitions=1)
    load.write(worker.source, topics, b"first")
    for number in range(connectors):
        name = f"page-{number}"
        config = worker.connector(f"page-topic-{number % running}", name)
        if fails := running <= number < running + running // 10:
            config |= {"source.bootstrap.servers": NOWHERE, "topic.list.timeout.ms": "2000"}
        if name == _CHANGED:
            config |= {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": LETTERS}
        state = "RUNNING" if number < running or fails else "STOPPED"
        worker.call("POST", "/connectors", {"name": name, "config": config, "initial_state": state})
    wanted = {"FAILED": running // 10, "RUNNING": running, "STOPPED": connectors - running - running // 10}
    deadline = time.monotonic() + _LIMIT_S
    while (states := worker.call("GET", "/headrace/overview")["states"]) != wanted:
        if time.monotonic() > deadline:
            raise BenchmarkError(f"The connectors were not there within {_LIMIT_S} s: {states}")
        time.sleep(_POLL_S)


def _answers(worker: Headrace, paths: Sequence[str], asks: int, pause_s: float = 0) -> Iterator[tuple[str, float]]:
    """The p99 of each path in ms, asked by one client with a pause before each request, from a connection that is kept."""
    with httpx.Client(base_url=worker.url, timeout=60) as browser:
        for path in paths:
            taken = list[float]()
            for _ in range(asks):
                time.sleep(pause_s)
                begun = time.monotonic()
                browser.get(path).raise_for_status()
                taken.append((time.monotonic() - begun) * 1000)
            yield path + (" cold" if pause_s else ""), percentile(taken, 0.99)


def _bulk(worker: Headrace, connectors: int, running: int, asks: int) -> Iterator[tuple[str, float]]:
    """The same of actions on many: the dialog for all connectors, and a pause and a resume of all that run."""
    everything, started = ([f"page-{number}" for number in range(count)] for count in (connectors, running))
    requests = [("confirm", "pause", everything), ("act", "pause", started), ("act", "resume", started)]
    taken: dict[str, list[float]] = {}
    with _browser(worker) as browser:
        for _ in range(asks):
            for step, action, names in requests:
                begun = time.monotonic()
                browser.post(f"/ui/{step}", data={"action": action, "name": names}).raise_for_status()
                taken.setdefault(f"POST /ui/{step} {action} of {len(names)}", []).append((time.monotonic() - begun) * 1000)
    yield from ((request, percentile(times, 0.99)) for request, times in taken.items())


def _browser(worker: Headrace) -> httpx.Client:
    """Sends what proves that a change is from the page."""
    return httpx.Client(base_url=worker.url, timeout=60, headers={"HX-Request": "true", "Origin": worker.url.rstrip("/")})


def _changes(worker: Headrace, asks: int) -> Iterator[tuple[str, float]]:
    """The same of each request that changes or tries something, over the page and over REST, about one connector that runs.

    They are sent in turn, so that each pause has something to pause. A preview reads records with Spark: a tenth as many.
    """
    config = worker.call("GET", f"/connectors/{_CHANGED}")["config"]
    typed = {"mode": "json", "name": _CHANGED, "json": json.dumps({k: v for k, v in config.items() if k != "name"}), "live": "3"}
    form = httpx.get(f"{worker.url.rstrip('/')}/ui/edit?{_C}", timeout=60).text
    typed["base"] = re.findall(r'name="base" value="(\w*)"', form)[0]
    requests: list[tuple[str, str, str, dict[str, Any]]] = [("", "POST", "/ui/confirm", {"data": _action("pause")})]
    requests += [(action, "POST", "/ui/act", {"data": _action(action)}) for action in ("pause", "resume", "restart")]
    requests += [("", "POST", f"/ui/edit/{step}", {"data": typed}) for step in ("validate", "review", "topics", "preview")]
    requests += [("", "PUT", f"/connectors/{_CHANGED}/{state}", {}) for state in ("pause", "resume")]
    requests += [("", "POST", f"/connectors/{_CHANGED}/restart?includeTasks=true", {})]
    requests += [("", "PUT", f"/connector-plugins/{config['connector.class']}/config/validate", {"json": config})]
    requests += [("", "POST", "/headrace/preview", {"json": {"config": config, "live": 3}})]
    taken: dict[str, list[float]] = {}
    with _browser(worker) as browser:
        for turn in range(asks):
            for what, method, path, body in requests:
                if path.endswith("/preview") and turn % 10:
                    continue
                begun = time.monotonic()
                browser.request(method, path, **body).raise_for_status()
                taken.setdefault(f"{method} {path} {what}".strip(), []).append((time.monotonic() - begun) * 1000)
    yield from ((request, percentile(times, 0.99)) for request, times in taken.items())


def _action(action: str) -> dict[str, str]:
    return {"action": action, "name": _CHANGED}


@contextmanager
def _open_pages(url: str, paths: Sequence[str]) -> Iterator[None]:
    """A browser for each path."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        for path in paths:
            chromium.new_context().new_page().goto(url.rstrip("/") + path)
        yield
        chromium.close()
