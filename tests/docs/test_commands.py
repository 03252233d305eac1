"""The commands and code of the docs: each command and option is there, and data and Python can be read."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from headrace.cli.app import app
from headrace.cli.project import folder
from headrace.config import parse_properties
from headrace.runtime.distributed_config import DistributedConfig
from tests.docs.test_pages import PAGES, ROOT

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_INLINE = re.compile(r"`(headrace [^`\n]+)`")
_PLACEHOLDER = re.compile(r"[A-Z…<\[|(]|\.\.\.")
_SETTINGS = DistributedConfig.definition().options
_PREFIXES = ("config.providers.", "listeners.https.ssl.", "spark.headrace.", "topic.creation")
COMMANDS = typer.main.get_command(app)


def commands(page: Path) -> Iterator[str]:
    """What a reader is told to type, a line each; continued lines are one."""
    text = page.read_text(encoding="utf-8")
    for kind, block in _FENCE.findall(text):
        if kind in ("", "sh", "console"):
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                found = re.match(r"(?:\$ |until |.*?\bdo )?(headrace .*)", line)
                if found:
                    yield found[1]
    yield from _INLINE.findall(_FENCE.sub("", text))


def problem(line: str) -> str | None:
    """Why a command cannot be given, None if it can as far as its name and options go."""
    optional = re.sub(r"\[([^\]]*)\]", lambda found: found[1].replace("|", " "), line)
    words = shlex.split(re.split(r"[|&>;]|\s#", optional)[0], posix=False)[1:]
    command: Any = COMMANDS
    while (below := getattr(command, "commands", None)) and words and not words[0].startswith("-"):
        name = words.pop(0).rstrip(",.:")
        if _PLACEHOLDER.match(name):
            return None
        if name not in below and "." in name and "run" in below:  # `headrace mirror FILE` runs it
            name = "run"
        if name not in below:
            return f"there is no command {name!r}"
        command = below[name]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h", "--version"}
    strange = [word for word in words if word.startswith("-") and len(word) > 1 and word.partition("=")[0] not in known]
    return f"{command.name} has no option {strange[0]}" if strange else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_one(page: Path):
    wrong = {line: why for line in commands(page) if (why := problem(line))}
    assert wrong == {}


def test_the_docs_have_many_commands_and_a_wrong_one_is_found():
    assert sum(1 for page in PAGES for _ in commands(page)) > 100
    assert problem("headrace conectors list") and problem("headrace connectors list --jsn")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_data_and_python_can_be_read(page: Path):
    for kind, block in _FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "json" and "…" not in block:
            decoder, rest = json.JSONDecoder(), block.strip()
            while rest:  # one value, or one on each line
                _, end = decoder.raw_decode(rest)
                rest = rest[end:].strip()
        elif kind in ("yaml", "yml"):
            list(yaml.safe_load_all(block))
        elif kind in ("python", "py"):
            ast.parse(block)
        elif kind == "toml":
            tomllib.loads(block)
        elif kind == "properties":
            assert [key for key in parse_properties(block) if key not in _SETTINGS and not key.startswith(_PREFIXES)] == []


def test_the_project_of_the_docs_is_one(tmp_path: Path):
    blocks = [block for kind, block in _FENCE.findall((ROOT / "docs/project.md").read_text(encoding="utf-8")) if kind == "toml"]
    for name, block in zip((folder.FILE, folder.TOPICS), blocks, strict=True):
        (tmp_path / name).write_text(block, encoding="utf-8")
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "revenue.properties").write_text("application.id=revenue\n", encoding="utf-8")
    for name in ("dev", "prod"):
        env = folder.environment(tmp_path, name)
        assert env.client_settings()["bootstrap.servers"] == env.values["kafka"]
        assert list(folder.topics(tmp_path, env)) == ["orders", "shop.returns"]
        assert [application.name for application in folder.applications(tmp_path, env)] == ["revenue"]
