"""Boards and alerts name metrics that exist; how they are found: by the names in their PromQL."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from headrace.metric_pages import application_rows, worker_rows
from headrace.rest.prometheus import render

DEPLOY = Path(__file__).parents[2] / "deploy"
BOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
RULES = DEPLOY / "prometheus" / "rules.yml"
_NAME = re.compile(r"\b(?:kafka_connect|headrace|process)_\w+")
_SELECTED = re.compile(r"\b((?:kafka_connect|headrace)_\w+)\{([^}]*)\}")
_GROUPED = re.compile(r"\b(?:by|on) \(([\w, ]+)\)")
OF_TARGETS = {"instance", "job"}
"""The labels that Prometheus adds."""


def expressions(board: Path) -> Iterator[str]:
    content = json.loads(board.read_text())
    for panel in content["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (variable["query"] for variable in content["templating"]["list"])


def rule_expressions() -> list[str]:
    return [rule["expr"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def names(texts: Iterator[str] | list[str]) -> set[str]:
    return {name for text in texts for name in _NAME.findall(re.sub(r'"[^"]*"', '""', text))}


def used() -> set[str]:
    """Every metric that a board or an alert names."""
    return names([*rule_expressions(), *(text for board in BOARDS for text in expressions(board))])


def shown(text: str) -> set[str]:
    """The names of the series in an answer of `/metrics`."""
    return {re.split(r"[{ ]", line, maxsplit=1)[0] for line in text.splitlines() if not line.startswith("#")}


@pytest.fixture(scope="module")
def labels() -> dict[str, set[str]]:
    """The labels of each metric on the page of metrics, which tests compare with live workers and applications."""
    known: dict[str, set[str]] = {}
    for name, of_series in (*worker_rows(), *application_rows()):
        known.setdefault(name, set()).update(of_series)
    return known


def test_every_metric_that_boards_and_alerts_name_exists(labels: dict[str, set[str]]) -> None:
    processes = shown(render([], "kafka", None)[0].decode())
    assert len(used()) > 40
    assert used() - processes <= labels.keys()


def lacking(expression: str, others: set[str], labels: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The labels by which an expression selects or groups, and `others`, that a metric in it has not."""
    wanted = {(name, label) for name, text in _SELECTED.findall(expression) for label in re.findall(r"(\w+)\s*[=!]", text)}
    grouped = {label for text in _GROUPED.findall(expression) for label in text.split(", ")} | others
    wanted |= {(name, label) for name in names([expression]) & labels.keys() for label in grouped}
    return {(name, label) for name, label in wanted if label not in labels.get(name, set()) | OF_TARGETS}


def test_metrics_have_the_labels_by_which_boards_and_alerts_select_and_group(labels: dict[str, set[str]]) -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    texts = [(r["expr"], set(re.findall(r"\$labels\.(\w+)", r["annotations"]["summary"]))) for r in rules]
    for board in BOARDS:
        panels = json.loads(board.read_text())["panels"]
        texts += [(t["expr"], set(re.findall(r"\{\{(\w+)\}\}", t["legendFormat"]))) for p in panels for t in p["targets"]]
    assert [(text, missing) for text, others in texts if (missing := lacking(text, others, labels))] == []
    assert lacking('sum by (connector) (headrace_streams_active{topic="x"})', {"task"}, labels) == {
        ("headrace_streams_active", label) for label in ("connector", "topic", "task")
    }


def test_mirrors_are_shown_and_watched_by_either_family_of_names() -> None:
    texts = [*rule_expressions(), *(text for board in BOARDS for text in expressions(board))]
    legacy = {text: re.findall(r"kafka_connect_mirror_mirror[a-z]+connector_(\w+)", text) for text in texts}
    assert sum(map(len, legacy.values())) >= 8
    assert [text for text, metrics in legacy.items() if any(f"kafka_connect_plugins_{m}" not in text for m in metrics)] == []


def test_a_name_that_is_not_there_would_be_found() -> None:
    assert names(['rate(headrace_task_nonsense_total{connector="headrace_x"}[5m]) > 0']) == {"headrace_task_nonsense_total"}


@pytest.mark.slow
def test_boards_are_those_of_the_script(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DEPLOY.parent / "scripts" / "boards.py", tmp_path], check=True)
    assert {board.name: board.read_text() for board in BOARDS} == {new.name: new.read_text() for new in tmp_path.iterdir()}


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.stem)
def test_labels_that_legends_and_variables_use_are_said_and_panels_do_not_overlap(board: Path) -> None:
    content = json.loads(board.read_text())
    variables = {variable["name"] for variable in content["templating"]["list"]}
    for panel in content["panels"]:
        for target in panel["targets"]:
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= variables
            if by := re.search(r"by \(([\w, ]+)\)", target["expr"]):
                assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= {*by[1].split(", ")}
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in content["panels"]]
    assert len(places) == len(set(places))


def test_alerts_say_how_bad_it_is_and_what_is_so() -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    for rule in rules:
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"]["summary"].endswith(".")
    page = (DEPLOY.parent / "docs" / "monitoring.md").read_text()
    assert [rule["alert"] for rule in rules if rule["alert"] not in page] == []


PROMTOOL = shutil.which("promtool") or shutil.which("promtool", path=str(Path(sys.executable).parent))
needs_promtool = pytest.mark.skipif(not PROMTOOL, reason="there is no promtool; `make setup` takes it from Debian's prometheus")


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROMTOOL), *arguments], cwd=RULES.parent, capture_output=True, text=True)


@pytest.mark.slow
@needs_promtool
def test_the_unit_tests_of_the_rules_pass() -> None:
    tested = promtool("test", "rules", "rules.test.yml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_alert_has_a_unit_test_that_sees_it_fire() -> None:
    tests = yaml.safe_load((RULES.parent / "rules.test.yml").read_text())["tests"]
    seen = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case["exp_alerts"]}
    assert seen == {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}


@pytest.mark.slow
@needs_promtool
def test_promtool_takes_every_query_of_the_boards(tmp_path: Path) -> None:
    queries = [re.sub(r"\$\w+", "x", text) for board in BOARDS for text in expressions(board) if "label_values" not in text]
    assert len(queries) > 30
    rules = [{"record": f"board:query:{n}", "expr": query} for n, query in enumerate(queries)]
    file = tmp_path / "boards.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "boards", "rules": rules}]}))
    checked = promtool("check", "rules", file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    rules[0]["expr"] = "sum by ("
    file.write_text(yaml.safe_dump({"groups": [{"name": "boards", "rules": rules}]}))
    assert promtool("check", "rules", file).returncode != 0
