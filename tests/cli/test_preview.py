from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import headrace

pytestmark = pytest.mark.slow

CONFIG = {
    "connector.class": "FileStreamSource",
    "topic": "lines",
    "transforms": "hoist",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "line",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": False,
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "connector.json"
    file.write_text(json.dumps({"name": "lines", "config": CONFIG}))
    return file


def records(config: Path, text: str) -> Path:
    file = config.with_name("records.jsonl")
    file.write_text(text)
    return file


def test_it_prints_a_table_and_the_outcome(config: Path):
    answer = headrace("preview", "--config", str(config), "--records", str(records(config, '{"value":"hello"}\n')))
    assert answer.returncode == 0, answer.stderr
    assert "incubator" not in answer.stderr
    assert '{"line":"hello"}' in answer.stdout
    assert "→ lines (the connector creates no topics" in " ".join(answer.stdout.split())


def test_it_prints_json_alone_if_asked(config: Path):
    file = records(config, '{"value":"é"}\n')
    answer = headrace("preview", "--config", str(config), "--records", str(file), "--json")
    found = json.loads(answer.stdout)
    assert (found["connector"], found["records"][0]["output"]["value"]) == ("lines", '{"line":"é"}')


@pytest.mark.parametrize(
    ("settings", "lines", "message"),
    [
        (
            {"connector.class": "Nowhere"},
            "{}",
            "Failed to find any class that implements Connector and which name",
        ),
        ({"transforms": "other"}, "{}", "Connector configuration is invalid and contains the following 1 error(s):"),
        ({}, '{"value":"a"}\n{"value":1}\n', "records.jsonl: line 2 is no record: `value` has to be a text"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_status_1(config: Path, settings, lines, message):
    config.write_text(json.dumps(CONFIG | settings))
    answer = headrace("preview", "--config", str(config), "--records", str(records(config, lines)))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error: ") and message in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(("text", "message"), [("{", "is not valid JSON"), ("[]", "holds a JSON list")])
def test_a_file_that_is_no_configuration_is_named(config: Path, text, message):
    config.write_text(text)
    answer = headrace("preview", "--config", str(config), "--live", "1")
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"error: Connector file {config} {message}")
