from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from headrace.cli.app import app
from headrace.cli.connectors import tables
from headrace.errors import NotFoundError
from tests.support import wait_until


def test_one_action_on_many(cli: Callable[..., Any], put: Callable[..., Path]):
    for name in ("a", "b"):
        cli("create", str(put(name)))
    ended = cli("bulk", "stop", "a", "none")
    assert (ended.status, ended.out) == (1, "a: asked for\nnone: Unknown connector none\n")
    assert cli("bulk", "restart-failed", "--failed").out == "No connector has failed.\n"
    assert cli("bulk", "pause").status == 2
    assert cli("bulk", "pause", "a", "--json").json["connectors"] == [{"name": "a", "done": True, "message": None}]


def test_what_became_of_a_connector_and_who_changed_it(cli: Callable[..., Any], put: Callable[..., Path], url: str):
    cli("create", str(put("a")))
    wait_until(lambda: cli("history", "a", "--json").json["entries"], 120, "its first state")
    assert "STOPPED" in cli("history", "a").out
    assert cli("history", "none").status == 1
    told = CliRunner().invoke(app, ["audit", "--json"], env={"HEADRACE_URL": url})
    assert [entry["path"] for entry in json.loads(told.stdout)["entries"]] == ["/connectors"]
    shown = CliRunner().invoke(app, ["audit"], env={"HEADRACE_URL": url, "COLUMNS": "160"}).stdout
    assert "POST /connectors" in shown and "127.0.0.1" in shown


def test_a_name_that_is_not_known_is_no_connector_without_data(cli: Callable[..., Any], put: Callable[..., Path], url: str):
    cli("create", str(put("a", {"file": ""})))  # of no file, so that nothing flows

    def lineage(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["lineage", *arguments], env={"HEADRACE_URL": url})

    for kind, form in (("connector", []), ("topic", []), ("application", ["--dot"]), ("connector", ["--json"])):
        error = lineage(f"--{kind}", "typo", *form).exception
        assert (type(error), str(error)) == (NotFoundError, f"Nothing is known of {kind} 'typo'.")
    both = lineage("--connector", "typo", "--topic", "t", "--json")
    assert (both.exit_code, json.loads(both.stdout)["nodes"]) == (1, [])
    assert str(both.exception) == "Nothing is known of connector 'typo' or topic 't'."
    assert lineage("--connector", "a").stdout == lineage().stdout == "No data has flowed through a connector yet.\n"


def test_the_workers_of_the_group_with_what_each_does(url: str):
    environ = {"HEADRACE_URL": url, "COLUMNS": "200"}
    (worker,) = json.loads(CliRunner().invoke(app, ["workers", "--json"], env=environ).stdout)["workers"]
    shown = CliRunner().invoke(app, ["workers"], env=environ)
    facts = worker["facts"]
    assert (shown.exit_code, shown.stderr) == (0, "")
    for text in (worker["worker_id"], "answers", facts["version"], f"{facts['slots']}/{facts['slot_count']}"):
        assert text in shown.stdout


def test_a_worker_that_does_not_answer_has_no_facts():
    silent = {"worker_id": "far:8083", "state": "silent", "connectors": 1, "tasks": 2, "failed": 0, "facts": None}
    table = tables.workers({"workers": [silent], "problem": None})
    assert [str(cell) for column in table.columns for cell in column.cells] == ["far:8083", "silent", "1", "2", "0", *[""] * 4]
