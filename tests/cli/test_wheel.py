"""What is installed from a wheel has all that its commands need."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
FIND = """
import pytest

import pytest

from headrace.demo.surroundings import example
from headrace.jvm.jars import IVY_FILE, JAVA_SOURCES
print(example("mirror-flights.json"), IVY_FILE.is_file(), len(list(JAVA_SOURCES.rglob("*.java"))) > 0)
"""


def test_a_wheel_has_the_examples_of_the_demo(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    answer = subprocess.run(
        [sys.executable, "-c", FIND],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert answer.stdout.split() == [str(installed / "headrace" / "examples" / "mirror-flights.json"), "True", "True"]
