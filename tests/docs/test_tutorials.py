"""The commands of the tutorials, run as they stand by a shell, one after the other; and what they say their output has.

Each tutorial has names and files of its own, and waits most of the time: two of them run at once. What a page starts in a
terminal of its own, `headrace dev`, runs as it stands there, but on free ports: one process for all pages that start the same.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.command import PLAIN, running
from tests.spark_formats.conftest import postgres  # noqa: F401 - a fixture
from tests.support import at_once, quick_java, selected

pytestmark = pytest.mark.slow
TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
_BLOCK = re.compile(r"^```(sh|output)\n(.*?)^```$", re.S | re.M)
_TERMINAL = re.compile(r"^```console\n\$ headrace (dev\b.*)\n((?:\w.*\n)+)\$ export (.*?) *(?:#.*)?$", re.M)
_PORT = re.compile(r":\d+")
_MARK = "---- end of a block ----"


def blocks(tutorial: Path) -> list[tuple[str, list[str]]]:
    """The commands of each block, and the texts that its output has to have."""
    found: list[tuple[str, list[str]]] = []
    for kind, text in _BLOCK.findall(tutorial.read_text(encoding="utf-8")):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def terminal(tutorial: Path) -> tuple[str, str, str]:
    """What a page starts in a terminal of its own, what that prints, and the variables set then; else those of the first page."""
    found = _TERMINAL.search(tutorial.read_text(encoding="utf-8"))
    return (found[1], found[2], found[3]) if found else terminal(tutorial.with_name("first-mirror.md"))


def start(stack: ExitStack, command: str, printed: str, variables: str) -> dict[str, str]:
    """Start it on free ports, compare what it prints, and return the variables with its addresses."""
    process = stack.enter_context(running(*shlex.split(command), "--port", "0", "--rest-port", "0"))
    lines = [process.line() for _ in printed.splitlines()]
    assert [_PORT.sub("", line) for line in lines] == [_PORT.sub("", line) for line in printed.splitlines()]
    for page, line in zip(printed.splitlines(), lines, strict=True):
        variables = variables.replace(page.partition("=")[2].rstrip("/"), line.partition("=")[2].rstrip("/"))
    return dict(assignment.split("=", 1) for assignment in shlex.split(variables))


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Path, Future[None]]]:
    """The tutorials that are to be tested, as they run."""
    tutorials = selected(request, "tutorial")
    needs_database = any("$DATABASE" in tutorial.read_text(encoding="utf-8") for tutorial in tutorials)
    database = {"DATABASE": request.getfixturevalue("postgres").url} if needs_database else {}

    def run(tutorial: Path) -> None:
        directory = tmp_path_factory.mktemp(tutorial.stem)
        path = commands(directory / "bin", {"headrace": "-m headrace.cli", "python": ""})
        check(tutorial, {**quick_java(), **PLAIN, **database, **started[terminal(tutorial)], "PATH": path}, directory)

    with ExitStack() as stack:
        started = {one: start(stack, *one) for one in dict.fromkeys(map(terminal, tutorials))}
        with at_once(run, tutorials, 2) as futures:
            yield futures


def commands(directory: Path, made: Mapping[str, str]) -> str:
    """Make programs that run Python with these arguments; returns the `PATH` that has them."""
    directory.mkdir()
    for name, arguments in made.items():
        program = directory / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        program.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def check(tutorial: Path, environ: Mapping[str, str], directory: Path) -> None:
    """Run the commands of a page in a directory, and compare what they print with what it says."""
    steps = blocks(tutorial)
    assert any(expected for _, expected in steps)
    shell = shutil.which("bash") or "sh"
    script = "set -e\n" + "".join(f"{commands}\necho '{_MARK}'\n" for commands, _ in steps)
    run = subprocess.run(
        [shell, "-c", script], cwd=directory, env=environ, capture_output=True, text=True, timeout=900, check=False
    )
    outputs = run.stdout.split(_MARK)
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    for (commands, expected), output in zip(steps, outputs, strict=False):
        assert [text for text in expected if text not in output] == [], f"after:\n{commands}\nit printed:\n{output}"


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda tutorial: tutorial.stem)
def test_its_commands_run_and_print_what_it_says(tutorial: Path, runs: dict[Path, Future[None]]) -> None:
    runs[tutorial].result()
