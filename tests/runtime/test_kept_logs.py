"""What is logged of a connector is kept."""

from __future__ import annotations

import structlog

from headrace.runtime.recent_logs import RECENT
from tests.support import kept_logs


def test_an_event_of_a_connector_is_kept_with_its_fields() -> None:
    with kept_logs():
        structlog.get_logger("headrace.x").info("task.running", connector="kept-1", task=3, mode="realtime")
    (entry,) = RECENT.entries("kept-1", 10)
    assert (entry["event"], entry["task"], entry["details"], entry["level"]) == ("task.running", 3, {"mode": "realtime"}, "INFO")
