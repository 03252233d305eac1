"""The operator's page of a worker with 1,000 connectors: how long each of its requests takes, and what ten open pages cost."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
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
_LIMIT_S, _POLL_S = 600, 1.0
_C = "name=page-0"
PATHS = (
    "/ui", "/ui?page=7&sort=-lag", "/ui?q=page-9&state=STOPPED", "/ui/rows", f"/ui/connector?{_C}", f"/ui/connector/head?{_C}",
    f"/ui/connector/live?{_C}", f"/ui/connector/lag?{_C}", f"/ui/connector/topics?{_C}", f"/ui/connector/offsets?{_C}",
    f"/ui/connector?{_C}&tab=configuration", f"/ui/connector/history?{_C}", f"/ui/connector/log?{_C}",
    f"/ui/connector/log/entries?{_C}", f"/ui/edit?{_C}", "/ui/new?plugin=KafkaSourceConnector", "/ui/graph",
    "/ui/graph?connector=page-0", "/ui/dead-letters/topics", "/ui/workers/rows", "/ui/workers/log-levels", "/ui/streams/rows",
    "/ui/audit", f"/ui/connector/charts?{_C}",
    "/headrace/overview", "/headrace/figures", "/headrace/lineage", "/headrace/lineage?columns=true",
)  # fmt: skip
"""Every screen, and every part of one that is loaded or renewed by itself."""


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
            answers = (*_answers(worker, asks), *_changes(worker, asks))
            rows += [report.Row(f"p99 {request}", "ms", [value], []) for request, value in answers]
            time.sleep(idle_s)
            rows.append(report.Row("idle-cpu", "% of a core", [worker.idle(idle_s)["idle-cpu"]], []))
            with _open_pages(worker.url):
                time.sleep(idle_s)
                rows.append(report.Row(f"idle-cpu-{PAGES}-pages", "% of a core", [worker.idle(idle_s)["idle-cpu"]], []))
    report.show(f"The page with {connectors} connectors", "-", rows, console)
    if not options.quick:
        method = {"connectors": connectors, "running": running, "requests": asks, "idle_s": idle_s, "foreign_cpu": foreign}
        console.print(f"written: {report.save('page', rows, method)}")


def _create(worker: Headrace, connectors: int, running: int) -> None:
    """Mirrors of a topic each: so many that run, a tenth as many that fail, and the others stopped."""
    worker.partitions = 1
    topics = [f"page-topic-{number}" for number in range(running)]
    load.create_topics(worker.source, topics, partitions=1)
    load.write(worker.source, topics, b"first")
    for number in range(connectors):
        name = f"page-{number}"
        config = worker.connector(f"page-topic-{number % running}", name)
        if fails := running <= number < running + running // 10:
            config |= {"source.bootstrap.servers": NOWHERE, "topic.list.timeout.ms": "2000"}
        state = "RUNNING" if number < running or fails else "STOPPED"
        worker.call("POST", "/connectors", {"name": name, "config": config, "initial_state": state})
    wanted = {"FAILED": running // 10, "RUNNING": running, "STOPPED": connectors - running - running // 10}
    deadline = time.monotonic() + _LIMIT_S
    while (states := worker.call("GET", "/headrace/overview")["states"]) != wanted:
        if time.monotonic() > deadline:
            raise BenchmarkError(f"The connectors were not there within {_LIMIT_S} s: {states}")
        time.sleep(_POLL_S)


def _answers(worker: Headrace, asks: int) -> Iterator[tuple[str, float]]:
    """The p99 of each path in ms, asked by one client without a pause, from a connection that is kept."""
    with httpx.Client(base_url=worker.url, timeout=60) as browser:
        for path in PATHS:
            taken = list[float]()
            for _ in range(asks):
                begun = time.monotonic()
                browser.get(path).raise_for_status()
                taken.append((time.monotonic() - begun) * 1000)
            yield path, percentile(taken, 0.99)


def _changes(worker: Headrace, asks: int) -> Iterator[tuple[str, float]]:
    """The same of each request that changes or tries something, over the page and over REST, about one connector that runs.

    They are sent in turn, so that each pause has something to pause. A preview reads records with Spark: a tenth as many.
    """
    config = worker.call("GET", f"/connectors/{_CHANGED}")["config"]
    typed = {"mode": "json", "name": _CHANGED, "json": json.dumps({k: v for k, v in config.items() if k != "name"}), "live": "3"}
    requests: list[tuple[str, str, str, dict[str, Any]]] = [("", "POST", "/ui/confirm", {"data": _action("pause")})]
    requests += [(action, "POST", "/ui/act", {"data": _action(action)}) for action in ("pause", "resume", "restart")]
    requests += [("", "POST", f"/ui/edit/{step}", {"data": typed}) for step in ("validate", "review", "preview")]
    requests += [("", "PUT", f"/connectors/{_CHANGED}/{state}", {}) for state in ("pause", "resume")]
    requests += [("", "POST", f"/connectors/{_CHANGED}/restart?includeTasks=true", {})]
    requests += [("", "PUT", f"/connector-plugins/{config['connector.class']}/config/validate", {"json": config})]
    requests += [("", "POST", "/headrace/preview", {"json": {"config": config, "live": 3}})]
    taken: dict[str, list[float]] = {}
    proof = {"HX-Request": "true", "Origin": worker.url.rstrip("/")}
    with httpx.Client(base_url=worker.url, timeout=60, headers=proof) as browser:
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
def _open_pages(url: str) -> Iterator[None]:
    """Ten browsers that look at all connectors."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        for _ in range(PAGES):
            chromium.new_context().new_page().goto(f"{url}/ui")
        yield
        chromium.close()
