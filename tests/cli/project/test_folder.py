from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cli.project.folder import FILE, chain_tests, connectors, environment, render
from headrace.errors import ConfigError

NAMES = st.text("abcxyz_.-09", min_size=1)
PARTS = st.lists(st.tuples(st.text().filter(lambda text: "{" not in text and "}" not in text), NAMES))


@given(PARTS, st.dictionaries(NAMES, st.text()))
def test_each_place_has_its_value_and_everything_else_is_as_it_was(parts, values) -> None:
    text = "".join(f"{plain}{{{{{name}}}}}" for plain, name in parts)
    rendered, missing = render(text, values)
    assert rendered == "".join(plain + values.get(name, f"{{{{{name}}}}}") for plain, name in parts)
    assert missing == [name for _, name in parts if name not in values]


def project(folder: Path, toml: str, config: dict[str, str] | None = None) -> Path:
    (folder / "connectors").mkdir(parents=True)
    (folder / FILE).write_text(toml)
    body = {"name": "c", "config": config or {"servers": "{{kafka}}", "n": "{{ replicas }}", "secret": "${file:/x:y}"}}
    (folder / "connectors" / "c.json").write_text(json.dumps(body))
    return folder


DEV = '[environments.dev]\nurl = "http://w:1"\n[environments.dev.values]\nkafka = "k:9092"\nreplicas = 3\n'


def test_values_of_the_environment_are_in_the_connectors_and_placeholders_of_providers_stay(tmp_path: Path) -> None:
    folder = project(tmp_path, DEV)
    (connector,) = connectors(folder, environment(folder, None)).values()
    assert connector.config == {"name": "c", "servers": "k:9092", "n": "3", "secret": "${file:/x:y}"}


@pytest.mark.parametrize(
    ("toml", "name", "sentence"),
    [
        ("", None, "has no environments"),
        ("[environments.dev", None, "is not valid TOML"),
        (DEV, "prod", "has no environment 'prod'; it has dev."),
        ("[environments.dev]\n", None, "has no `url`"),
        ('[environments.dev]\nurl = "u"\nurll = "u"\n', None, "has urll, which nothing reads"),
        ('[environments.dev]\nurl = "u"\n[environments.dev.values]\na = [1]\n', None, "have to be texts, numbers or booleans"),
    ],
)
def test_what_is_wrong_with_the_file_is_one_sentence(toml: str, name: str | None, sentence: str, tmp_path: Path) -> None:
    folder = project(tmp_path, toml)
    with pytest.raises(ConfigError, match=sentence.replace("[", r"\[")):
        environment(folder, name)


def test_every_value_that_is_missing_is_named_with_its_file_and_setting(tmp_path: Path) -> None:
    folder = project(tmp_path, DEV, {"a": "{{nothing}}", "b": "{{kafka}} {{neither}}"})
    with pytest.raises(ConfigError) as error:
        connectors(folder, environment(folder, None))
    assert "c.json: a has {{nothing}}, which environment dev has no value for." in str(error.value)
    assert "c.json: b has {{neither}}" in str(error.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not valid JSON"),
        ("[]", "has to be an object of connector, records, expect"),
        ('{"connector": "c", "records": {}, "expect": []}', "`records` has to be a list"),
        ('{"connector": "c", "records": [{}], "expect": []}', "has 1 records, and 0 to expect"),
    ],
)
def test_a_file_that_is_no_test_is_one_sentence(content: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.json").write_text(content)
    with pytest.raises(ConfigError, match=sentence):
        chain_tests(tmp_path)
