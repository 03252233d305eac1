from __future__ import annotations

import json
from pathlib import Path

import pytest

from headrace.cli.connectors.files import read_all, read_file
from headrace.errors import ConfigError


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.json", '{"name": "a", "config": {"topic": "t", "tasks.max": 2}}'),
        ("a.json", '{"name": "a", "topic": "t", "tasks.max": 2}'),
        ("a.properties", "name=a\ntopic=t\ntasks.max=2\n"),
    ],
)
def test_every_form_is_the_same_connector(file: str, text: str, tmp_path: Path):
    (tmp_path / file).write_text(text)
    wanted = read_file(tmp_path / file)
    assert (wanted.name, wanted.config) == ("a", {"name": "a", "topic": "t", "tasks.max": "2"})
    assert wanted.body() == {"name": "a", "config": wanted.config}


def test_an_initial_state_goes_with_the_creation(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"name": "a", "config": {}, "initial_state": "paused"}')
    assert read_file(tmp_path / "a.json").body()["initial_state"] == "PAUSED"


def test_of_a_folder_its_json_and_properties_are_read_by_name(tmp_path: Path):
    for file, name in (("z.json", "first"), ("a.json", "second")):
        (tmp_path / file).write_text(json.dumps({"name": name}))
    (tmp_path / "m.properties").write_text("name=middle")
    (tmp_path / "README.md").write_text("not read")
    (tmp_path / ".hidden.json").write_text("not read")
    (tmp_path / "more").mkdir()
    assert [wanted.name for wanted in read_all([tmp_path])] == ["first", "middle", "second"]


def test_a_file_named_twice_is_one_connector(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"name": "a"}')
    assert len(read_all([tmp_path, tmp_path / "a.json"])) == 1


def test_two_names_in_a_file_are_refused(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"name": "a", "config": {"name": "b"}}')
    with pytest.raises(ConfigError, match=r"a\.json has two names: a, and b in its config\.$"):
        read_file(tmp_path / "a.json")


def test_all_problems_are_told_at_once(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"name": "a"}')
    (tmp_path / "b.properties").write_text("name=a")
    (tmp_path / "c.json").write_text("{")
    (tmp_path / "d.json").write_text('{"topic": "t"}')
    (tmp_path / "e.json").write_bytes(b'{"name": "\xff"}')
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError) as raised:
        read_all([tmp_path, tmp_path / "empty"])
    first, second, third, fourth, fifth = raised.value.message.splitlines()
    assert first == f"Connector a is in two files: {tmp_path}/a.json and {tmp_path}/b.properties."
    assert second.startswith(f"Connector file {tmp_path}/c.json is not valid JSON: ")
    assert third == f"Connector file {tmp_path}/d.json has no `name`."
    assert fourth.startswith(f"Connector file {tmp_path}/e.json is not valid JSON: ")
    assert fifth == f"The folder {tmp_path}/empty has no file that ends in .json or .properties."
