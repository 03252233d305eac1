"""A wheel works alone: built from what the container's build stage has, installed beside nothing but what it requires, with the
jars of a bundle and without a network.
"""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.deploy.requirements import closure
from tests.deploy.test_files import ROOT, instructions
from tests.support import quick_java

pytestmark = pytest.mark.slow


_LOOPBACK_ONLY = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
"""Runs a command where there is no other network; only root may, and not in every container."""
NOTHING_FETCHED = {"HEADRACE_IVY_SETTINGS": "/nowhere/ivysettings.xml"}


def run(*command: str | Path, cwd: Path, environ: Mapping[str, str] = MappingProxyType({})) -> str:
    """What it prints. Temporary files go to the folder in which it runs."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, "TMPDIR": str(cwd), **environ}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> Path:
    """A wheel of what the Dockerfile copies, and nothing else."""
    for name, rest in instructions():
        if name == "COPY" and "--from" not in rest:
            *sources, target = rest.split()
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    (folder / target).mkdir(exist_ok=True)
                    shutil.copy(ROOT / source, folder / target)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist", cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def environment(folder: Path, wheel: Path) -> Path:
    """The programs of a fresh virtual environment with the wheel and, as links to this one's, the packages that it requires."""
    venv.create(folder, with_pip=True)
    packages = Path(site.getsitepackages([str(folder)])[0])
    (required,) = metadata.distributions(name="headrace", path=[str(wheel)])
    for name in closure(required.requires or ()):
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(distribution.locate_file(top))))
    run(folder / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", wheel, cwd=folder)
    return folder / "bin"


def without_network() -> tuple[str, ...]:
    """What to put before a command so that it has no network but loopback; nothing where that is not possible."""
    possible = shutil.which("unshare") and subprocess.run([*_LOOPBACK_ONLY, "true"], capture_output=True).returncode == 0
    return _LOOPBACK_ONLY if possible else ()


def test_the_demo_runs_from_a_wheel_and_a_bundle_in_a_fresh_environment_without_a_network(tmp_path: Path) -> None:
    for name in ("source", "elsewhere"):
        (tmp_path / name).mkdir()
    programs = environment(tmp_path / "environment", build(tmp_path / "source"))
    assert "No broken requirements" in run(programs / "python", "-m", "pip", "check", cwd=tmp_path)
    run(sys.executable, "-m", "headrace.cli", "jars", "bundle", "--all", tmp_path / "jars.tar", cwd=tmp_path)
    offline = {**quick_java(), **NOTHING_FETCHED, "HEADRACE_HOME": str(tmp_path / "home")}
    imported = run(programs / "headrace", "jars", "import", tmp_path / "jars.tar", cwd=tmp_path, environ=offline)
    assert imported.endswith(f" jars are in {tmp_path / 'home'}\n")
    command = [*without_network(), programs / "headrace", "demo", "--exit"]
    shown = run(*command, cwd=tmp_path / "elsewhere", environ=offline)
    assert re.search(r"Page +http://\S+/ui\b", shown), "it ends on the page, whose address it prints"
    assert "336,776" in shown and "26,115" in shown and shown.count("= source") == 2
    assert not list((tmp_path / "elsewhere").iterdir()), "it leaves nothing behind"
