"""A browser, and connectors on a real worker for it to look at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.browser import keep_picture, launched
from tests.clusters import Cluster, record
from tests.support import kept_logs, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WAIT_S = 120
MEANT = ("status of 4", "Status Error Code 4", "htmx:sendError", "htmx:afterRequest", "net::ERR_FAILED")
"""What a browser reports of a request that is refused or lost, as some tests want it."""
WIDE, NARROW = 1280, 390
CREATION = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launched(WAIT_S) as chromium:  # a stream starts in seconds, on a busy machine in many
        yield chromium


@pytest.fixture(scope="package", autouse=True)
def _kept_logs() -> Iterator[None]:
    with kept_logs():
        yield


@pytest.fixture
def meant() -> list[str]:
    """What a browser may report in a test; one that wants more adds it."""
    return list(MEANT)


@pytest.fixture
def open_page(browser: Browser, worker: EmbeddedWorker, meant: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens a page of the worker: `open_page("/ui", width=390, scheme="dark")`; at: the address of another one, whose certificate
    nobody has signed. What it asks for, and what its scripts report, is looked at in the end: everything has to be of the worker,
    and nothing may be refused by the policy.
    """
    asked: list[tuple[str, str]] = []
    said: list[str] = []
    contexts = []

    def new(path: str, width: int = WIDE, scheme: Any = "light", at: str = "") -> Page:
        size, url = {"width": width, "height": 900}, at or worker.url
        context = browser.new_context(viewport=size, color_scheme=scheme, base_url=url, ignore_https_errors=bool(at))  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_S * 1000)
        page.on("request", lambda request: asked.append((url, request.url)))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(path)
        return page

    yield new
    for context in contexts:
        context.close()
    assert not [url for own, url in asked if not url.startswith((own, "data:"))]
    assert not [text for text in said if not any(part in text for part in meant)]


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keeps a picture of a page, of a long one its beginning, in build/page or where HEADRACE_SCREENSHOTS says."""
    folder = Path(os.environ.get("HEADRACE_SCREENSHOTS") or request.config.rootpath / "build" / "page")

    def keep(page: Page, name: str, whole: bool = True) -> None:
        keep_picture(page, folder / f"{name}.png", whole)

    return keep


@pytest.fixture
def connector(worker: EmbeddedWorker) -> Iterator[Callable[..., str]]:
    """Creates a connector, and deletes it in the end: `connector(name, config, "STOPPED")`."""
    made: list[str] = []

    def create(name: str, config: dict[str, str], state: str = "RUNNING") -> str:
        worker.call("POST", "/connectors", {"name": name, "config": config, "initial_state": state})
        made.append(name)
        return name

    yield create
    for name in made:
        if name in worker.call("GET", "/connectors"):
            worker.call("DELETE", f"/connectors/{name}")


@pytest.fixture
def orders(source: Cluster, topic_name: Callable[[str], str]) -> str:
    """A topic with some records of now: how old they are when they are copied is shown."""
    topic = topic_name("orders")
    source.create(topic, 1)
    source.produce(topic, [record(b"k", timestamp=time.time_ns() // 1_000_000)] * 5)
    return topic


def mirror(source: Cluster, topic: str, bootstrap: str | None = None) -> dict[str, str]:
    """A connector that copies a topic; bootstrap: of a cluster that is not there."""
    return {
        "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": bootstrap or source.bootstrap,
        "source.topic.whitelist": topic, "destination.topics.prefix": "copy.",
        "topic.list.timeout.ms": "2000" if bootstrap else "60000",
        "transforms": "mask", "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.mask.fields": "card", "transforms.mask.predicate": "orders", "predicates": "orders",
        "predicates.orders.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
        "predicates.orders.pattern": "paid-.*",
        "producer.override.ssl.key.password": "s3cret", **CREATION,
    }  # fmt: skip


def state_of(worker: EmbeddedWorker, name: str) -> list[str]:
    status = worker.call("GET", "/connectors?expand=status").get(name, {}).get("status")
    return [part["state"] for part in (status["connector"], *status["tasks"])] if status else []


def await_state(worker: EmbeddedWorker, name: str, *states: str) -> None:
    wait_until(lambda: state_of(worker, name) == list(states), WAIT_S, lambda: f"{name} is {states}: {state_of(worker, name)}")


def reconfigure(worker: EmbeddedWorker, name: str, config: dict[str, str]) -> None:
    """Change a connector, and wait until its first task has been started anew: its state is RUNNING before that, too."""

    def starts() -> int:
        entries = worker.call("GET", f"/headrace/connectors/{name}/history")["entries"]
        return sum(entry.get("task") == 0 and entry["state"] == "RUNNING" for entry in entries)

    before = starts()
    worker.call("PUT", f"/connectors/{name}/config", config)
    wait_until(lambda: starts() > before, WAIT_S, f"{name} runs with the change")
