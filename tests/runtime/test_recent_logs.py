"""What is remembered of the log, by connector."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from headrace.config import redaction
from headrace.runtime.recent_logs import RECENT, RecentLogs
from tests.support import kept_logs

NAME = "tests.recent_logs"


@pytest.fixture
def recent() -> Iterator[RecentLogs]:
    """A memory of three entries for each connector and six for all, that gets what is logged as NAME."""
    handler, logger = RecentLogs(per_connector=3, most=6), logging.getLogger(NAME)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)


def say(level: str, event: str, **fields: object) -> None:
    """As structlog hands it over."""
    logging.getLogger(NAME).log(getattr(logging, level), {"event": event, "level": level.lower(), **fields})


def events(recent: RecentLogs, *wanted: object) -> list[str]:
    return [entry["event"] for entry in recent.entries("c", *wanted)]  # type: ignore[arg-type]


def test_entries_are_found_by_connector_level_and_task(recent: RecentLogs) -> None:
    say("INFO", "connector.running", connector="c")
    say("WARNING", "task.retry", connector="c", task=1, pause_s=0.5)
    say("ERROR", "task.failed", connector="c", task=0)
    say("INFO", "of nobody")
    assert events(recent, 10) == ["connector.running", "task.retry", "task.failed"]
    assert events(recent, 10, logging.WARNING) == ["task.retry", "task.failed"]
    assert events(recent, 10, 0, 0) == ["task.failed"]
    assert (events(recent, 1), events(recent, 0)) == (["task.failed"], [])
    retry = recent.entries("c", 10)[1]
    assert retry["time"].startswith("20")
    assert {key: retry[key] for key in ("level", "logger", "task", "details")} == {
        "level": "WARN", "logger": NAME, "task": 1, "details": {"pause_s": "0.5"},
    }  # fmt: skip


def test_what_libraries_log_counts_by_the_context_of_the_thread(recent: RecentLogs) -> None:
    with structlog.contextvars.bound_contextvars(connector="c", task=2):
        try:
            raise ValueError("broken")
        except ValueError:
            logging.getLogger(NAME).exception("it is %s", "so")
    entry = recent.entries("c", 10)[0]
    assert (entry["event"], entry["task"], entry["level"]) == ("it is so", 2, "ERROR")
    assert entry["details"]["exception"].endswith("ValueError: broken")


def test_it_is_bounded(recent: RecentLogs) -> None:
    for number in range(5):
        say("INFO", f"event {number}", connector="c")
    assert events(recent, 10) == ["event 2", "event 3", "event 4"]
    say("INFO", "x" * 100_000, connector="d")
    assert len(recent.entries("d", 1)[0]["event"]) < 9000


def test_however_many_connectors_log_one_that_logs_little_keeps_it(recent: RecentLogs) -> None:
    say("ERROR", "connector.failed", connector="c")
    for connector in ("d", "e", "f"):
        for number in range(3):
            say("INFO", f"event {number}", connector=connector)
    assert events(recent, 10) == ["connector.failed"]
    kept = [[entry["event"] for entry in recent.entries(connector, 10)] for connector in ("d", "e", "f")]
    assert (sum(map(len, kept)), [last for *_, last in kept]) == (5, ["event 2"] * 3)


def test_of_as_many_connectors_as_a_worker_may_have_entries_are_kept() -> None:
    handler = RecentLogs()
    for number in range(1000):
        handler.handle(logging.makeLogRecord({"levelno": logging.ERROR, "msg": {"event": "failed", "connector": f"c{number}"}}))
    assert [len(handler.entries(f"c{number}", 10)) for number in range(1000)] == [1] * 1000


def test_secrets_are_not_told(recent: RecentLogs) -> None:
    redaction.remember("pa55w0rd-of-logs", "${file:/s:p}")
    say("INFO", "login with pa55w0rd-of-logs", connector="c", cause={"password": "pa55w0rd-of-logs"})
    say("INFO", "later-known", connector="c")
    redaction.remember("later-known", "${file:/s:q}")
    told = str(recent.entries("c", 10))
    assert "pa55w0rd-of-logs" not in told
    assert "later-known" not in told
    assert "${file:/s:p}" in told


def test_an_event_of_a_connector_is_kept_with_its_fields() -> None:
    with kept_logs():
        structlog.get_logger("headrace.x").info("task.running", connector="kept-1", task=3, mode="realtime")
    (entry,) = RECENT.entries("kept-1", 10)
    assert (entry["event"], entry["task"], entry["details"], entry["level"]) == ("task.running", 3, {"mode": "realtime"}, "INFO")
