from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_judge_runs_the_fast_tests_on_their_own_and_then_what_it_is_asked_for() -> None:
    shown = subprocess.run(
        ["make", "-n", "check", "ARGS=-k all"], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    runs = [line.partition("pytest ")[2].split() for line in shown.stdout.splitlines() if " -m pytest " in line]
    assert [("--fast" in options, options[-2:] == ["-k", "all"]) for options in runs] == [(True, False), (False, True)]
