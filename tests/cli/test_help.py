from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headrace import __version__
from headrace.cli.app import app
from tests.cli.command import PLAIN, headrace

Golden = Callable[[str, str], None]

CONNECTORS = (
    *("list", "describe", "topics", "lag", "figures", "schemas", "logs", "history", "validate", "create", "apply", "delete"),
    *("pause", "resume", "stop", "restart", "bulk", "offsets", "offsets show", "offsets set", "offsets reset"),
    *("plugins", "loggers", "loggers show", "loggers set"),
)
STREAMS = ("describe", "plan", "init", "verify", "run", "list", "ask")
MIRROR = ("run", "failover")
PLUGINS = ("list", "show", "add")
COMMANDS = (
    "",
    "worker",
    "standalone",
    "doctor",
    "preview",
    "demo",
    "dev",
    "broker",
    "jars",
    "hash-password",
    "dead-letters",
    "lineage",
    "topics",
    "topics drift",
    "audit",
    "workers",
    "connectors",
    "streams",
    "mirror",
    "plugins",
    "project",
)


DEAD_LETTERS = ("list", "show", "preview", "replay")
PROJECT = ("init", "plan", "apply", "drift", "test")
JARS = ("bundle", "import", "sbom")
GROUPS = (
    ("connectors", CONNECTORS),
    ("dead-letters", DEAD_LETTERS),
    ("streams", STREAMS),
    ("mirror", MIRROR),
    ("plugins", PLUGINS),
    ("jars", JARS),
    ("project", PROJECT),
)
GROUPED = [f"{group} {name}" for group, names in GROUPS for name in names]


def plain_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPED])
def test_help_reads_well(command: str, golden: Golden):
    answer = CliRunner().invoke(app, [*command.split(), "--help"], env=PLAIN, prog_name="headrace")
    assert (answer.exit_code, answer.stderr) == (0, "")
    golden(f"help-{command.replace(' ', '-') or 'headrace'}.txt", plain_lines(answer.stdout))


@pytest.mark.slow
def test_the_help_of_the_process_is_the_same(golden: Golden):
    answer = headrace("--help")
    assert (answer.returncode, answer.stderr) == (0, "")
    golden("help-headrace.txt", plain_lines(answer.stdout))


@pytest.mark.slow
def test_without_a_command_it_shows_its_help():
    answer = headrace()
    assert "Usage: headrace [OPTIONS] COMMAND" in answer.stdout


@pytest.mark.slow
def test_the_version_is_one_line():
    assert headrace("--version").stdout == f"headrace {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["brokr"], "No such command 'brokr'"),
        (["broker", "--port", "70000"], "Invalid value for '--port': Input should be less than or equal to 65535"),
        (["broker", "--port", "many"], "Invalid value for '--port': Input should be a valid integer"),
        (["broker", "--set", "num.partitions"], "'num.partitions' is not of the form KEY=VALUE."),
        (["broker", "--set", "=3"], "'=3' is not of the form KEY=VALUE."),
        (["worker"], "name a worker file, or take the settings from the environment with --from-env."),
        (["doctor"], "name a worker file, or take the settings from the environment with --from-env."),
        (["worker", "/nowhere/worker.properties"], "file '/nowhere/worker.properties' does not exist."),
        (["worker", "/"], "file '/' is a directory."),
        (["mirror", "/nowhere/mm2.properties"], "file '/nowhere/mm2.properties' does not exist."),
        (["preview"], "Missing option '--config'"),
        (["preview", "--config", __file__], "give one of --records and --live."),
        (
            ["preview", "--config", __file__, "--live", "0"],
            "'--live': Input should be greater than or equal to 1",
        ),
        (["connectors", "create", "/nowhere/connector.json"], "file '/nowhere/connector.json' does not exist."),
        (["connectors", "describe", ""], "the name of a connector is not empty."),
        (["standalone", __file__, "/nowhere/connector.json"], "file '/nowhere/connector.json' does not exist."),
    ],
)
@pytest.mark.slow
def test_wrong_usage_is_status_2_and_says_what_is_wrong(arguments: list[str], complaint: str):
    answer = headrace(*arguments)
    assert answer.returncode == 2
    assert complaint.lower() in " ".join(answer.stderr.replace("│", " ").split()).lower()
    assert "Traceback" not in answer.stderr


@pytest.mark.slow
def test_no_java_is_one_sentence_and_status_1(tmp_path: Path):
    answer = headrace("broker", environ={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == (
        "error: Java 17 or newer is needed, but there is none on PATH; install it, or set JAVA_HOME to one that you have.\n"
    )


@pytest.mark.slow
def test_a_java_that_is_too_old_is_one_sentence_and_status_1(tmp_path: Path):
    (tmp_path / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\" 2024-01-16' >&2\n")
    (tmp_path / "java").chmod(0o755)
    answer = headrace("broker", environ={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert answer.returncode == 1
    assert answer.stderr == (
        f"error: Java 17 or newer is needed, but {tmp_path}/java on PATH is version 11; "
        "install it, or set JAVA_HOME to one that you have.\n"
    )
