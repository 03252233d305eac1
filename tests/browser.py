"""The browser of this machine, for the tests of the operator's page and of the docs site."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NO_BROWSER = "there is no Chromium; install one (`sudo apt-get install chromium`) or name it by HEADRACE_CHROMIUM."
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def browser_path() -> str | None:
    """The program, None if there is none."""
    names = (os.environ.get("HEADRACE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


HIGHEST = 1400
"""Of a picture, in pixels."""


@contextmanager
def launched(wait_s: float) -> Iterator[Browser]:
    """The browser, whose `expect` waits for so long; skips the test where there is none."""
    if (path := browser_path()) is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=wait_s * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


def keep_picture(page: Page, file: Path, whole: bool = True) -> None:
    """Keep a picture of a page, of a long one its beginning."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if whole and not page.locator("dialog[open]").count():  # what a dialog stands before ends with the window
        width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        page.screenshot(path=file, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": min(height, HIGHEST)})
    else:
        page.screenshot(path=file)
