from __future__ import annotations

from pathlib import Path

import pytest

from headrace.jvm.jars import home, jars
from tests.cli.command import headrace

pytestmark = pytest.mark.slow


def test_it_says_how_many_jars_are_where():
    expected = len(jars("spark")) + len(jars("broker")) + 1
    answer = headrace("jars")
    assert (answer.returncode, answer.stdout) == (0, f"{expected} jars are in {home()}\n")


def test_without_archives_of_classes_all_else_is_there(tmp_path: Path):
    (tmp_path / "jars").symlink_to(home() / "jars")
    answer = headrace("jars", environ={"HEADRACE_HOME": str(tmp_path), "JDK_JAVA_OPTIONS": "-Xshare:off"})
    assert answer.returncode == 0
    assert "the classes of spark could not be archived, so it will start more slowly: " in answer.stderr
    assert "the classes of broker could not be archived, so it will start more slowly: " in answer.stderr
    assert list(tmp_path.rglob("*.jsa")) == []  # it is tried again the next time
