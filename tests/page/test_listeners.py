"""The page of a worker that has something of its own: HTTPS and `admin.listeners`, or nothing to show yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from headrace.cluster.herder import Herder
from headrace.rest import RestServer
from tests.certificates import Certificates
from tests.page.conftest import NARROW
from tests.page.looks import problems_of, tab_to
from tests.rest.conftest import worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.rest.other_worker import NAME, measure
from tests.rest.test_page import CONFIG, KnowingHerder

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]


@pytest.fixture
def serve() -> Iterator[Callable[..., RestServer]]:
    """Starts a server of a herder with these settings; to be named before `open_page`, whose pages are closed first then."""
    servers = []

    def start(herder: MemoryHerder, settings: Mapping[str, str]) -> RestServer:
        servers.append(RestServer(cast(Herder, herder), worker_config(settings)))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_over_https_a_connector_is_paused_and_log_levels_are_said_to_be_at_the_admin_listener(
    serve: Callable[..., RestServer], open_page: Open, tmp_path: Path
):
    from playwright.sync_api import expect

    herder, pem = KnowingHerder(), Certificates(tmp_path).path("server.pem")
    herder.create("c", dict(CONFIG))
    server = serve(herder, {
        "listeners": "https://localhost:0", "admin.listeners": "http://localhost:0",
        "ssl.keystore.type": "PEM", "ssl.keystore.location": pem,
    })  # fmt: skip
    page = open_page("/", at=server.urls[0])
    page.wait_for_url(re.compile("^https://localhost:.*/ui$"))
    page.get_by_label("Select c").check()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator("#messages")).to_contain_text("Pause: asked for 1 connector.")
    assert herder.states == {"c": "PAUSED"}
    page.get_by_role("link", name="Workers").click()
    levels = page.get_by_role("region", name="Log levels")
    expect(levels).to_contain_text("They are at http://localhost:0 alone (admin.listeners).")
    expect(levels.locator("form")).to_have_count(0)


def test_a_chart_shows_single_values_under_the_pointer_and_by_arrow_keys(serve: Callable[..., RestServer], open_page: Open):
    from playwright.sync_api import expect

    herder = KnowingHerder()
    herder.create(NAME, {"connector.class": "FileStreamSource"})
    measure(herder.metrics, 0, 70, 900.0)
    page = open_page(f"/ui/connector?name={NAME}", at=serve(herder, {}).urls[0])
    rates = page.get_by_role("img", name="Records per second, last hour")
    now = page.locator("figure", has=rates).locator("figcaption b")
    expect(now).to_have_text(re.compile(r"^[\d.]+$"))
    tab_to(page, rates.get_attribute("aria-label") or "")
    page.keyboard.press("ArrowLeft")
    expect(now).to_have_text(re.compile(r"^\d\d:\d\d:\d\d: [07]$"))  # the newest: the worker may have taken one more
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    expect(now).to_have_text(re.compile(r"^\d\d:\d\d:\d\d: 0$"))  # the oldest
    page.keyboard.press("ArrowRight")
    expect(now).to_have_text(re.compile(r"^\d\d:\d\d:\d\d: 7$"))
    rates.hover(position={"x": 1, "y": 20})  # before there were any: the oldest
    expect(now).to_have_text(re.compile(r"^\d\d:\d\d:\d\d: 0$"))
    page.mouse.move(1, 1)
    expect(now).to_have_text(re.compile(r"^[\d.]+$"))


EMPTY = {
    "overview": ("/ui", "No connectors yet"),
    "graph": ("/ui/graph", "No connector yet"),
    "streams": ("/ui/streams", "No application reports."),
    "dead-letters": ("/ui/dead-letters", "No connector has a dead letter topic."),
    "audit": ("/ui/audit", "No changes are recorded."),
}


def test_screens_without_anything_to_show_say_what_to_do(
    serve: Callable[..., RestServer], open_page: Open, shot: Callable[..., None]
):
    from playwright.sync_api import expect

    page = open_page("/ui", width=NARROW, scheme="dark", at=serve(KnowingHerder(), {}).urls[0])
    for screen, (path, sentence) in EMPTY.items():
        page.goto(path)
        expect(page.locator("main")).to_contain_text(sentence)
        problems = problems_of(page)
        assert problems == {"wider": 0, "nameless": [], "pale": [], "unseen": []}, (screen, problems)
        shot(page, f"empty-{screen}-dark-{NARROW}")
    page.goto("/ui")
    page.get_by_role("link", name="Create the first one").click()
    expect(page.get_by_role("heading", name="Connector class")).to_be_visible()
