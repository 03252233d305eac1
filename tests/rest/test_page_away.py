"""A worker of the group, or a cluster, does not answer: the page says so where it matters, and shows the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, cast

import anyio
import httpx
import pytest
from anyio import fail_after, to_thread

from headrace.cluster.herder import Herder
from headrace.embedded.ports import free_port
from headrace.rest import RestServer
from headrace.rest.app import create_app
from headrace.rest.page import pending
from headrace.rest.page.pending import PendingAnswers
from tests.rest.conftest import Client, worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_page import CONFIG, STREAMS, KnowingHerder, Page
from tests.support import wait_until


class OneIsAway(KnowingHerder):
    """A group of two workers, of which the other one has the tasks and does not answer."""

    away = f"127.0.0.1:{free_port()}"

    def workers(self) -> list[str]:
        return [self.worker_id, self.away]

    def status(self, name: str, *, own: bool = False) -> dict:
        status = super().status(name, own=own)
        there = self.worker_id if name == "here" else self.away
        return status | {"tasks": [{**task, "worker_id": there} for task in status["tasks"]]}


@pytest.fixture
def herder() -> MemoryHerder:
    return OneIsAway()


@pytest.fixture
def page(serve: Callable[..., Client], herder: MemoryHerder) -> Page:
    client = serve()
    herder.create("copy-orders", dict(CONFIG))
    assert client("PUT", "/headrace/streams/app/i", STREAMS).status == 204
    return Page(client)


@pytest.mark.parametrize(
    ("path", "rest"),
    [
        ("/ui", "copy-orders"), ("/ui/connector?name=copy-orders", "copy-orders"),
        ("/ui/connector/log?name=copy-orders", "Log"), ("/ui/graph", "copy-orders"), ("/ui/streams/rows", "app"),
        ("/ui/streams/application?application=app", "Topology"),
    ],
)  # fmt: skip
def test_a_worker_that_is_away_is_named_and_what_is_known_is_shown(page: Page, path: str, rest: str):
    text = page.get(path).text
    assert f"Not reached: {OneIsAway.away}" in text and rest in text


def test_a_worker_that_is_away_is_not_named_with_a_connector_that_it_has_nothing_of(page: Page, herder: MemoryHerder):
    herder.create("here", dict(CONFIG))
    assert f"Not reached: {OneIsAway.away}" in page.get("/ui/connector?name=copy-orders").text
    assert "Not reached" not in page.get("/ui/connector?name=here").text


def test_the_screen_of_workers_says_which_is_silent(page: Page):
    rows = page.get("/ui/workers/rows").text
    assert OneIsAway.away in rows and "silent" in rows and "answers" in rows


@pytest.mark.slow
def test_a_connector_whose_cluster_is_away_says_so_and_shows_the_rest(page: Page, herder: MemoryHerder):
    nowhere = {"producer.override.bootstrap.servers": f"127.0.0.1:{free_port()}", "errors.deadletterqueue.topic.name": "letters"}
    herder.create("far", {**CONFIG, "name": "far", **nowhere})

    def named() -> str:  # on a busy machine the page may have to ask again
        return text if "far" in (text := page.get("/ui/dead-letters/topics").text) else ""

    topics = wait_until(named, 180, "the connector is named")
    assert "letters" in topics and 'class="bad"' in topics
    assert "It is not known how far the connector is behind." in page.get("/ui/connector/lag?name=far").text
    assert "far" in page.get("/ui").text


def test_a_worker_that_starts_is_said_in_the_part_that_is_asked_for(page: Page, herder: MemoryHerder):
    herder.up = False
    part = page.get("/ui/connector/head?name=copy-orders", {"HX-Request": "true"})
    assert (part.status, "The worker is starting" in part.text, "<body" in part.text) == (200, True, False)
    assert 'hx-get="/ui/connector/head?name=copy-orders"' in part.text  # the browser asks again
    whole = page.get("/ui")
    assert (whole.status, "data-reload" in whole.text) == (503, True)
    change = page.post("/ui/act", action="pause", name="copy-orders")
    assert (change.status, change.headers["hx-retarget"]) == (503, "#messages")


SINCE_MS = 1_700_000_000_000
SHORT_S = 0.2
"""How long a browser waits for what says nothing."""


def test_the_overview_names_the_clusters_that_give_no_answer_and_since_when(serve: Callable[..., Client], herder: MemoryHerder):
    client = serve()
    page = Page(client)
    for name, servers in (("far", "eu:9092"), ("further", "eu:9092"), ("hidden", "${env:FAR}")):
        herder.create(name, {**CONFIG, "name": name, "source.bootstrap.servers": servers})
        herder.metrics.task(name, 0, "source").follow_positions(lambda: None, lambda: SINCE_MS)
        herder.metrics.task_state(name, 0, "RUNNING")
    found = client("GET", "/headrace/overview?q=eu:9092").json
    assert found["clusters_away"] == [
        {"cluster": "${env:FAR}", "since_ms": SINCE_MS, "connectors": 1, "writers": 0},
        {"cluster": "eu:9092", "since_ms": SINCE_MS, "connectors": 2, "writers": 0},
    ]
    sentence = "No answer since 2023-11-14 22:13:20 UTC from the cluster eu:9092 that it reads from."
    assert [row["problem"] for row in found["connectors"]] == [sentence] * 2
    assert "No answer from the cluster eu:9092, first noticed" in page.get("/ui").text
    assert sentence in page.get("/ui/connector?name=far").text


def test_the_overview_names_the_clusters_that_connectors_write_to_and_that_give_no_answer(
    serve: Callable[..., Client], herder: MemoryHerder
):
    client = serve()
    page = Page(client)
    for name, servers in (("here", {}), ("there", {"producer.override.bootstrap.servers": "us:9092"})):
        herder.create(name, {**CONFIG, "name": name, "source.bootstrap.servers": "us:9092", **servers})
        recorder = herder.metrics.task(name, 0, "source")
        recorder.follow_target(lambda: SINCE_MS)
        herder.metrics.task_state(name, 0, "RUNNING")
    recorder.follow_positions(lambda: None, lambda: SINCE_MS - 1)  # "there" reads and writes one cluster
    found = client("GET", "/headrace/overview?sort=name").json
    assert found["clusters_away"] == [
        {"cluster": "us:9092", "since_ms": SINCE_MS - 1, "connectors": 1, "writers": 1},
        {"cluster": "of the workers", "since_ms": SINCE_MS, "connectors": 0, "writers": 1},
    ]
    assert [row["problem"].partition(" UTC ")[2] for row in found["connectors"]] == [
        "from the cluster of the workers that it writes to.", "from the cluster us:9092 that it reads from.",
    ]  # fmt: skip
    overview = page.get("/ui").text
    assert "1 connector writes to it." in overview and "1 connector reads from it, and its lag is not known." in overview
    assert "from the cluster of the workers that it writes to." in page.get("/ui/connector?name=here").text


class GroupIsSilent(KnowingHerder):
    """A worker whose own cluster does not say who is in the group."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = threading.Event()

    def workers(self) -> list[str]:
        self.answers.wait(600)
        return [self.worker_id, "other:8083"]


def test_the_overview_does_not_wait_for_the_cluster_of_the_workers(serve: Callable[..., Client]):
    herder = GroupIsSilent()
    client = serve(herder=herder)
    herder.create("c", dict(CONFIG))
    assert client("GET", "/headrace/overview").json["counts"]["workers"] == 1  # answered while nobody else is
    herder.answers.set()
    wait_until(lambda: client("GET", "/headrace/overview").json["counts"]["workers"] == 2, 120, "the group")


class SourceIsSilent(KnowingHerder):
    """A worker with a connector whose source cluster takes requests, and does not answer them."""

    def __init__(self) -> None:
        super().__init__()
        self.answers, self.asked = threading.Event(), 0

    def lag(self, name: str, *, ages: bool) -> list[dict[str, Any]]:
        self.asked += 1
        self.answers.wait(600)
        return [{"topic": "t", "partition": 0, "task": 0, "offset": 6, "end_offset": 9, "lag": 2, "freshness_ms": 1}]


def test_a_cluster_that_says_nothing_is_named_in_seconds_asked_once_and_holds_up_nobody(
    serve: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
):
    herder = SourceIsSilent()
    client = serve(herder=herder)
    herder.create("far", {**CONFIG, "name": "far"})
    page, path = Page(client), "/ui/connector/lag?name=far"
    monkeypatch.setattr(pending, "PATIENCE_S", SHORT_S)
    shown = page.get(path).text
    assert "The cluster that it reads from, or that of the workers, has not answered within 2.5 s" in shown
    assert f'hx-get="{path}"' in shown  # the browser asks again

    wait, waiting = PendingAnswers.answer, []

    def counted(*of: Any) -> Any:
        waiting.append(of)
        return wait(*of)

    monkeypatch.setattr(PendingAnswers, "answer", counted)
    monkeypatch.setattr(pending, "PATIENCE_S", 600)
    with ThreadPoolExecutor(20) as browsers:
        answers = [browsers.submit(page.get, path) for _ in range(20)]
        wait_until(lambda: len(waiting) == 20, 120, "twenty browsers that wait, none for another")
        assert page.get("/ui/connector?name=far").status == 200
        assert not any(answer.done() for answer in answers)
        herder.answers.set()
        assert all("Delivered to" in answer.result().text for answer in answers)
    assert herder.asked == 1  # it is the answer to what was asked first


class ChangesSlowly(SourceIsSilent):
    """The same, and to pause a connector takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.pausing, self.may_pause = threading.Event(), threading.Event()

    def pause(self, *names: str) -> None:
        self.pausing.set()
        self.may_pause.wait(600)
        super().pause(*names)


def test_what_was_asked_while_a_change_was_made_is_asked_again_after_it(
    serve: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
):
    herder = ChangesSlowly()
    page, path = Page(serve(herder=herder)), "/ui/connector/lag?name=far"
    herder.create("far", {**CONFIG, "name": "far"})
    with ThreadPoolExecutor(1) as browser:
        change = browser.submit(page.post, "/ui/act", action="pause", name="far")
        assert herder.pausing.wait(120)
        monkeypatch.setattr(pending, "PATIENCE_S", SHORT_S)
        assert "has not answered within 2.5 s" in page.get(path).text  # and is being asked still
        wait_until(lambda: herder.asked == 1, 120, "the first request has reached the cluster")
        herder.may_pause.set()
        assert change.result().status == 200
    herder.answers.set()
    monkeypatch.setattr(pending, "PATIENCE_S", 600)
    assert "Delivered to" in page.get(path).text
    assert herder.asked == 2


def test_a_change_is_not_shown_as_failed_while_it_is_made(page: Page, herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(import_module("headrace.rest.page.mount"), "_LIMIT_S", 0)
    assert page.post("/ui/act", action="pause", name="copy-orders").status == 200
    assert (herder.states["copy-orders"], page.get("/ui").status) == ("PAUSED", 503)


def test_requests_of_the_page_leave_threads_to_the_rest_api_that_they_ask(herder: MemoryHerder):
    app = create_app(herder, worker_config())  # type: ignore[arg-type]

    async def ask() -> int:
        to_thread.current_default_thread_limiter().total_tokens = 1
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            with fail_after(120):
                return (await client.get("/ui/graph")).status_code

    assert anyio.run(ask) == 200


def test_each_of_several_listeners_shows_what_had_to_be_waited_for(monkeypatch: pytest.MonkeyPatch):
    herder = SourceIsSilent()
    server = RestServer(cast(Herder, herder), worker_config({"listeners": "http://127.0.0.1:0, http://localhost:0"}))
    server.start()
    try:
        pages, path = [Page(Client(url)) for url in server.urls], "/ui/connector/lag?name=far"
        herder.create("far", {**CONFIG, "name": "far"})
        monkeypatch.setattr(pending, "PATIENCE_S", SHORT_S)
        assert all("has not answered within 2.5 s" in page.get(path).text for page in pages)
        herder.answers.set()
        monkeypatch.setattr(pending, "PATIENCE_S", 600)
        assert all("Delivered to" in page.get(path).text for page in pages)
    finally:
        herder.answers.set()
        server.stop()
