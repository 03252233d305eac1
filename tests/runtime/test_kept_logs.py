"""What is logged of a connector is kept where nobody has set up a log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from headrace.runtime import logs
from headrace.runtime.recent_logs import RECENT


@pytest.fixture
def kept() -> Iterator[None]:
    root, configured = logging.getLogger(), structlog.get_config()
    before = root.handlers[:], root.level
    root.handlers[:] = [handler for handler in root.handlers if handler is not RECENT]
    logs.keep_recent()
    yield
    root.handlers[:], level = before
    root.setLevel(level)
    structlog.configure(**configured)


@pytest.mark.usefixtures("kept")
def test_an_event_of_a_connector_is_kept_with_its_fields() -> None:
    structlog.get_logger("headrace.x").info("task.running", connector="kept-1", task=3, mode="realtime")
    (entry,) = RECENT.entries("kept-1", 10)
    assert (entry["event"], entry["task"], entry["details"], entry["level"]) == ("task.running", 3, {"mode": "realtime"}, "INFO")
