"""`plugins` and `loggers`: what a worker has and says."""

from __future__ import annotations

import json
from collections.abc import Callable

from headrace.cli.connectors import tables
from tests.cli.connectors.conftest import Ended

Cli = Callable[..., Ended]


def test_the_connectors_are_listed_and_with_all_every_plugin(cli: Cli):
    assert "FileStreamSourceConnector" in cli("plugins").out and "RegexRouter" not in cli("plugins").out
    assert {p["type"] for p in cli("plugins", "--json").json} <= {"source", "sink"}
    assert "RegexRouter" in cli("plugins", "--all").out


def test_a_plugin_without_a_version_is_listed():
    table = tables.plugins([{"class": "a.Sink", "type": "sink"}, {"class": "b.Sink", "type": "sink", "version": "1"}])
    assert [str(cell) for cell in table.columns[2].cells] == ["", "1"]


def test_the_options_of_a_plugin_are_shown_without_the_markup_of_their_documentation(cli: Cli):
    shown = " ".join(cli("plugins", "InsertField$Value").out.replace("│", " ").split())
    assert not shown and cli("plugins", "InsertField$Value").err == "error: Unknown plugin InsertField$Value.\n"
    shown = cli("plugins", "org.apache.kafka.connect.transforms.RegexRouter").out
    assert "(required)" in shown and "replacement" in shown
    assert "<code>" not in cli("plugins", "org.apache.kafka.connect.transforms.InsertField$Value").out
    assert [o["name"] for o in cli("plugins", "RegexRouter", "--json").json] == ["regex", "replacement"]


def test_all_and_one_plugin_do_not_go_together(cli: Cli):
    assert cli("plugins", "RegexRouter", "--all").status == 2


def test_levels_are_set_and_shown(cli: Cli):
    assert cli("loggers", "set", "test.cli.loggers", "debug").out.startswith("The level of test.cli.loggers is DEBUG now, for 1 ")
    assert cli("loggers", "show", "test.cli.loggers", "--json").json["level"] == "DEBUG"
    assert "test.cli.loggers" in cli("loggers", "show").out
    assert json.loads(cli("loggers", "set", "test.cli.loggers", "INFO", "--json").out) == ["test.cli.loggers"]
    assert "for every worker" in cli("loggers", "set", "test.cli.loggers", "WARN", "--cluster").out
    refused = cli("loggers", "set", "test.cli.loggers", "loud")
    assert (refused.status, refused.err) == (1, "error: invalid log level 'loud'.\n")


def test_a_task_is_restarted_by_its_number(cli: Cli):
    assert cli("restart", "gone", "--task", "0").err == "error: Unknown connector: gone\n"
    assert cli("restart", "gone", "--task", "0", "--include-tasks").status == 2
