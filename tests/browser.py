"""The browser of this machine, for the tests of the operator's page."""

from __future__ import annotations

import os
import shutil

NO_BROWSER = "there is no Chromium; install one (`sudo apt-get install chromium`) or name it by HEADRACE_CHROMIUM."
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def browser_path() -> str | None:
    """The program, None if there is none."""
    names = (os.environ.get("HEADRACE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)
