"""Connector files of standalone mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.cluster.standalone.connector_files import connector_config
from headrace.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("flat.json", '{"name": "n", "tasks.max": 2}', ("n", {"name": "n", "tasks.max": "2"}, None)),
        ("post.json", '{"name": "n", "config": {"a": "b"}}', ("n", {"name": "n", "a": "b"}, None)),
        (
            "paused.json",
            '{"name": "n", "config": {"a": true}, "initial_state": "paused"}',
            ("n", {"name": "n", "a": "true"}, "PAUSED"),
        ),
        ("c.properties", "name=n\n# comment\nfile = in.txt\n", ("n", {"name": "n", "file": "in.txt"}, None)),
    ],
)
def test_a_connector_file_is_read(tmp_path: Path, name: str, text: str, want: object) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert connector_config(tmp_path / name) == want


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.json", "{", "is not valid JSON"),
        ("a.json", "[" * 100_000, "is not valid JSON"),
        ("a.json", "[]", "has to be an object of settings"),
        ("a.json", '{"x": "y"}', "has no `name`"),
        ("a.json", '{"name": "n", "config": {}, "initial_state": "ASLEEP"}', "it has to be RUNNING, PAUSED or STOPPED"),
        ("a.properties", "x=y", "has no `name`"),
    ],
)
def test_a_bad_connector_file_gets_a_sentence(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=sentence):
        connector_config(tmp_path / name)


def test_a_missing_connector_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        connector_config(tmp_path / "none.json")
