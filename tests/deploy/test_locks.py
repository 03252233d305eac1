"""The lock files of the container are parts of requirements.lock: what runs there is what the tests ran with."""

from __future__ import annotations

import itertools
import tomllib

import pytest

from tests.deploy.requirements import closure, locked
from tests.deploy.test_files import DEPLOY, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"].values()
WANTED = {
    "requirements.lock": [*PROJECT["project"]["dependencies"], *itertools.chain(*EXTRAS)],
    "requirements-build.lock": PROJECT["dependency-groups"]["build"],
}


@pytest.mark.parametrize("file", WANTED)
def test_a_lock_of_the_container_has_what_is_needed_there_and_nothing_else(file: str) -> None:
    everything, part = locked(ROOT / "requirements.lock"), locked(DEPLOY / file)
    assert part.items() <= everything.items()
    names, needed = {name for name, _ in part}, closure(WANTED[file])
    assert needed <= names
    assert names - needed <= {"colorama", "httpx2-jsfetch", "tzdata"}, "these are for other systems"


def test_a_wheel_is_built_with_what_is_locked_for_it() -> None:
    assert PROJECT["build-system"]["requires"] == PROJECT["dependency-groups"]["build"]
