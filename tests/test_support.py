"""What the tests themselves rely on."""

from __future__ import annotations

import io
from typing import Literal

import pytest
import structlog

from headrace.runtime import logs
from tests.support import captured_logs, log_restored, without_skip


def report(outcome: Literal["passed", "failed", "skipped"], why: str | None = None) -> pytest.TestReport:
    longrepr = (__file__, 1, f"Skipped: {why}") if why else None
    return pytest.TestReport("t", (__file__, 1, "t"), {}, outcome, longrepr, "setup")


def test_a_run_of_everything_takes_no_skip_for_a_pass() -> None:
    failed = without_skip(report("skipped", "there is no promtool"))
    assert (failed.outcome, "there is no promtool" in str(failed.longrepr)) == ("failed", True)
    assert [without_skip(report(outcome)).outcome for outcome in ("passed", "failed")] == ["passed", "failed"]
    expected = report("skipped")
    expected.wasxfail = "a known defect"
    assert without_skip(expected).outcome == "skipped"


def test_a_logger_that_was_used_while_a_log_was_set_up_is_heard_afterwards() -> None:
    log = structlog.get_logger("tests.support")
    with log_restored():
        logs.configure(io.StringIO())
        log.info("before")
    with captured_logs() as logged:
        log.info("after")
    assert [entry["event"] for entry in logged] == ["after"]
