from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from headrace.cli.app import app
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
