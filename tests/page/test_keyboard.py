"""A connector is made, changed, and sent back to where it was, and a log level is set, without a mouse."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.page.conftest import await_state
from tests.page.looks import tab_to

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

    press(page, "Workers")
    page.wait_for_url(re.compile("/ui/workers"))
    fill(page, "Logger", LOGGER)
    tab_to(page, "Level")
    page.keyboard.type("WARN")
    press(page, "Set")
    expect(page.get_by_role("region", name="Log levels").locator("tbody")).to_contain_text(LOGGER)
    assert worker.call("GET", f"/admin/loggers/{LOGGER}")["level"] == "WARN"
