"""A streams application waits for its internal topics, and an operator has it create them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from headrace.streams import Consumed, KafkaStreams, Serdes, StreamsBuilder
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.page.conftest import WAIT_S
from tests.page.looks import look_at, look_at_dialog, tab_to

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def waiting(worker: EmbeddedWorker, destination: Cluster, topic_name: Callable[[str], str]) -> Iterator[str]:
    """The id of a real application that waits."""
    words, name = topic_name("words"), topic_name("app")
    destination.create(words, 2)
    config = {
        "application.id": name, "bootstrap.servers": destination.bootstrap, "internal.topics.setup": "manual",
        "headrace.report.url": worker.url.rstrip("/"), "replication.factor": "1",
    }  # fmt: skip
    builder = StreamsBuilder()
    builder.stream(words, Consumed.with_(Serdes.string(), Serdes.string())).group_by_key().count()
    streams, stopping = KafkaStreams(builder.build(config), config), threading.Event()
    waits = threading.Thread(target=streams.await_initialization, kwargs={"stopping": stopping})
    waits.start()
    yield name
    stopping.set()
    waits.join(WAIT_S)
    streams.close()


def test_an_application_is_verified_and_initialized_from_the_page(
    open_page: Callable[..., Page], waiting: str, destination: Cluster, shot: Callable[..., None]
):
    from playwright.sync_api import expect

    page = open_page("/ui/streams")
    page.get_by_role("link", name=waiting).click()
    tab_to(page, "Verify")
    page.keyboard.press("Enter")
    asked = page.get_by_role("region", name="Commands").locator("tbody tr")
    expect(asked.first).to_contain_text("Missing internal topics")
    page.get_by_role("button", name="Initialize …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_count(1)
    topic = dialog.locator("li span").first.inner_text()
    shot(page, "streams-init")
    look_at_dialog(page, "streams-init", shot)
    dialog.get_by_role("button", name="Dry run").click()
    expect(asked.first).to_contain_text("1 internal topic would be created.")
    assert destination.admin.describe(topic) is None
    tab_to(page, "Initialize …")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Initialize")).to_be_focused()
    page.keyboard.press("Enter")
    expect(asked.first).to_contain_text("1 internal topic created.")
    info = destination.admin.describe(topic)
    assert info is not None and len(info.partitions) == 2
    expect(page.locator(".figures")).to_contain_text("ready")
    page.get_by_role("link", name="Audit").click()
    expect(page.locator("tbody tr", has_text=f"POST /headrace/streams/{waiting}/commands").first).to_contain_text("init")
    page.goto(f"/ui/streams?application={waiting}")
    expect(page.get_by_role("region", name="Commands")).to_be_visible()
    look_at(page, "streams-asked", shot)
