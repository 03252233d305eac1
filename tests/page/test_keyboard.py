"""Connectors are made, changed, sent back and deleted, a task restarted, a dead letter replayed, all without a mouse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.page.conftest import WAIT_S, await_state, reconfigure
from tests.page.looks import tab_to
from tests.page.test_dead_letters import DLQ, JSON, STRING
from tests.support import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOGGER = "headrace.only_for_this_test"


@pytest.fixture
def name(worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[str]:
    """The name of a connector that the test makes."""
    name = topic_name("typed")
    yield name
    if name in worker.call("GET", "/connectors"):
        worker.call("DELETE", f"/connectors/{name}")


def press(page: Page, control: str, key: str = "Enter") -> None:
    tab_to(page, control)
    page.keyboard.press(key)


def fill(page: Page, control: str, text: str) -> None:
    tab_to(page, control)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def test_new_edit_offsets_and_log_levels_by_keyboard_alone(
    open_page: Callable[..., Page], worker: EmbeddedWorker, name: str, tmp_path: Path
):
    from playwright.sync_api import expect

    page = open_page("/ui")
    dialog = page.get_by_role("dialog")
    press(page, "New connector")
    press(page, "FileStreamSourceConnector")
    page.wait_for_url(re.compile("plugin="))
    fill(page, "name", name)
    fill(page, "topic *", "lines")
    fill(page, "file", str(tmp_path / "in.txt"))
    for mode in ("JSON", "Form"):  # a whole new editor, in which the same button has the focus
        press(page, mode)
        expect(page.get_by_role("button", name=mode, pressed=True)).to_be_focused()
    expect(page.locator("#problems")).to_contain_text("Valid")
    press(page, "Review changes")
    tab_to(page, "Initial state runningpausedstopped")
    page.keyboard.press("End")
    press(page, "Apply")
    page.wait_for_url(re.compile(f"name={name}"))
    await_state(worker, name, "STOPPED")

    press(page, "Configuration")
    press(page, "Edit")
    page.wait_for_url(re.compile("/ui/edit"))
    fill(page, "topic *", "rows")
    press(page, "Review changes")
    expect(dialog.locator("ins")).to_have_text(["rows"])
    expect(dialog.get_by_role("button", name="Apply")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui/connector"))
    assert worker.call("GET", f"/connectors/{name}")["config"]["topic"] == "rows"

    press(page, "Offsets")
    entry = {"partition": {"filename": str(tmp_path / "in.txt")}, "offset": {"position": 7}}
    fill(page, "Edit: one partition per line; a partition whose line is removed is reset", json.dumps([entry]))
    press(page, "Review changes")
    expect(dialog.get_by_role("button", name="Set 1 offset")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("altered successfully")
    assert worker.call("GET", f"/connectors/{name}/offsets")["offsets"] == [entry]

    press(page, "Reset …")
    expect(dialog.get_by_role("button", name="Reset 1 offset")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("reset successfully")
    assert worker.call("GET", f"/connectors/{name}/offsets")["offsets"] == []

    press(page, "Delete")
    expect(dialog.get_by_role("button", name="Delete")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui$"))
    wait_until(lambda: name not in worker.call("GET", "/connectors"), WAIT_S, "the connector is gone")

    press(page, "Workers")
    page.wait_for_url(re.compile("/ui/workers"))
    fill(page, "Logger", LOGGER)
    tab_to(page, "Level")
    page.keyboard.type("WARN")
    press(page, "Set")
    expect(page.get_by_role("region", name="Log levels").locator("tbody")).to_contain_text(LOGGER)
    assert worker.call("GET", f"/admin/loggers/{LOGGER}")["level"] == "WARN"


@pytest.fixture
def stopped(open_page: Callable[..., Page], worker: EmbeddedWorker, name: str, tmp_path: Path) -> Page:
    """The page of a connector that is stopped."""
    config = {"connector.class": "FileStreamSource", "topic": "lines", "file": str(tmp_path / "in.txt")}
    worker.call("POST", "/connectors", {"name": name, "config": config, "initial_state": "STOPPED"})
    await_state(worker, name, "STOPPED")
    return open_page(f"/ui/connector?name={name}")


def test_a_button_does_the_same_in_the_moment_after_its_part_has_been_renewed(stopped: Page):
    from playwright.sync_api import expect

    stopped.evaluate("""() => new Promise((pressed) => document.body.addEventListener("htmx:afterSwap", ({ detail }) => {
      if (detail.target.id !== "head") return;
      setTimeout(() => pressed(document.querySelector("#head button[value=delete]").click()));
    }))""")
    expect(stopped.get_by_role("dialog").get_by_role("button", name="Delete")).to_be_focused()


def test_a_button_that_is_pressed_while_its_part_is_renewed_is_clicked(stopped: Page):
    from playwright.sync_api import expect

    stopped.get_by_role("button", name="Delete").hover()
    stopped.mouse.down()
    stopped.evaluate("""() => new Promise((renewed) => document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
      if (detail.target.id === "head") renewed();
    }))""")
    stopped.mouse.up()
    expect(stopped.get_by_role("dialog").get_by_role("button", name="Delete")).to_be_focused()


def test_a_task_is_restarted_and_a_dead_letter_replayed_by_keyboard_alone(
    open_page: Callable[..., Page], worker: EmbeddedWorker, name: str, destination: Cluster, tmp_path: Path
):
    from playwright.sync_api import expect

    topic, letters, file = f"{name}-orders", f"{name}-letters", tmp_path / "out.txt"
    destination.create(topic)
    destination.produce(topic, [record(None, b"not json")])
    config = {
        "connector.class": "FileStreamSink", "topics": topic, "file": str(file), "errors.tolerance": "all",
        "value.converter": JSON, "value.converter.schemas.enable": "false", DLQ + "topic.name": letters,
        DLQ + "topic.replication.factor": "1", DLQ + "context.headers.enable": "true",
    }  # fmt: skip
    worker.call("POST", "/connectors", {"name": name, "config": config})
    wait_until(lambda: destination.size(letters) == 1, WAIT_S, "a dead letter")
    reconfigure(worker, name, config | {"value.converter": STRING})

    page = open_page(f"/ui/connector?name={name}")
    press(page, "Restart task 0")
    expect(page.locator("#messages")).to_contain_text(f"Task 0 of {name} has been restarted.")
    await_state(worker, name, "RUNNING", "RUNNING")

    press(page, "Its dead letters")
    page.wait_for_url(re.compile("/ui/dead-letters"))
    press(page, "Select 0:0", "Space")
    press(page, "Replay …")
    expect(page.get_by_role("dialog").get_by_role("button", name="Replay 1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("1 replayed.")
    wait_until(lambda: "not json" in file.read_text(), WAIT_S, "the record in the file")
