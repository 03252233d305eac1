"""What the tests themselves rely on."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.support import without_skip


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
