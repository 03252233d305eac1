from __future__ import annotations

from headrace.spark.jars import home, jars
from tests.cli.command import headrace


def test_it_says_how_many_jars_are_where():
    expected = len(jars("spark")) + len(jars("broker")) + 1
    answer = headrace("jars")
    assert (answer.returncode, answer.stdout) == (0, f"{expected} jars are in {home()}\n")
