from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cli.project.folder import (
    FILE,
    Application,
    applications,
    chain_tests,
    connectors,
    environment,
    render,
    topics,
)
from headrace.connectors.topic_settings import TopicSettings
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
        (
            DEV + '[environment.prod]\n[application.a]\napp = "m"\n',
            None,
            "project.toml has application, environment, which nothing reads; it may have applications, environments.",
        ),
        ("[environments.dev]\n", None, "has no `url`"),
        ('[environments.dev]\nurl = "u"\nurll = "u"\n', None, "has urll, which nothing reads"),
        ('[environments.dev]\nurl = "u"\n[environments.dev.values]\na = [1]\n', None, "have to be texts, numbers or booleans"),
        (
            '[environments.dev]\nurl = "u"\n[environments.dev.values]\na = 2026-01-01\n',
            None,
            "have to be texts, numbers or booleans",
        ),
        ('[environments.dev]\nurl = "u"\nkafka = "localhost:9092"\n', None, "`kafka` has to be a table [environments.dev.kafka]"),
        ('[environments.dev]\nurl = "u"\n[environments.dev.kafka]\na.b = 2026-01-01\n', None, "a.b is a date of TOML"),
        ('[environments.dev]\nurl = "u"\nworker = 1\n', None, "`worker` has to be a text"),
        ('[environments.dev]\nurl = "http://{{user}}@w:1"\n', None, "url has {{user}}, which has no value"),
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
    assert "c.json: a has {{nothing}}, which environment dev has no value for; if the connector " in str(error.value)
    assert "is to have these braces, write {{{{nothing}}}}." in str(error.value)
    assert "c.json: b has {{neither}}" in str(error.value)


@pytest.mark.parametrize("place", ["{{kafka servers}}", "{{ kafka:9092 }}", "{{kafka/x}}"])
def test_a_place_with_a_name_that_cannot_be_is_no_text_for_a_worker(place: str, tmp_path: Path) -> None:
    folder = project(tmp_path, DEV, {"a": place})
    name = place.strip("{} ")
    with pytest.raises(ConfigError, match=re.escape(f"a has {{{{{name}}}}}, which environment dev has no value for;")):
        connectors(folder, environment(folder, None))


def test_a_template_of_the_connector_itself_is_written_with_four_braces(tmp_path: Path) -> None:
    template = "{{{{topic}}}}-{{{{partition:padding=true}}}}.{{kafka}}"
    folder = project(tmp_path, DEV, {"file.name.template": template, "a": "{{{{}}}}"})
    config = connectors(folder, environment(folder, "dev"))["c"].config
    assert config["file.name.template"] == "{{topic}}-{{partition:padding=true}}.k:9092"
    assert config["a"] == "{{}}"
    assert render("{{{kafka}}}", {"kafka": "x"}) == ("{x}", [])


def test_two_files_that_are_one_connector_in_an_environment_are_named(tmp_path: Path) -> None:
    folder = project(tmp_path, DEV + 'a = "same"\nb = "same"\n')
    for name in ("a", "b"):
        (folder / "connectors" / f"{name}.json").write_text(json.dumps({"name": f"{{{{{name}}}}}", "config": {"x": "1"}}))
    with pytest.raises(
        ConfigError, match=r"a\.json and .*b\.json are both connector same, with the values of environment dev\.$"
    ):
        connectors(folder, environment(folder, None))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON: maximum recursion depth exceeded"),
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


def test_a_test_that_is_a_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tests" / "a.json").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"a\.json cannot be read: Is a directory\.$"):
        chain_tests(tmp_path)


def test_topics_have_counts_and_settings_with_the_values_of_the_environment(tmp_path: Path) -> None:
    folder = project(tmp_path, DEV)
    (folder / "topics.toml").write_text(
        '[orders]\npartitions = 6\nreplication.factor = "{{replicas}}"\ncleanup.policy = "compact"\nretention.ms = -1\n'
        '["a.b"]\npartitions = 1\nreplication.factor = -1\n'
    )
    assert topics(folder, environment(folder, None)) == {
        "orders": TopicSettings("orders", 6, 3, {"cleanup.policy": "compact", "retention.ms": "-1"}),
        "a.b": TopicSettings("a.b", 1, -1, {}),
    }


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("[orders", "is not valid TOML"),
        ("orders = " + "[" * 100_000, "is not valid TOML"),
        ("orders = 1", "orders is in no table"),
        ("[shop.eu.orders]\npartitions = 1\nreplication.factor = 1", 'name has dots is in quotes: ["shop.eu.orders"].'),
        (
            "[shop]\npartitions = 1\nreplication.factor = 1\n[shop.orders]\npartitions = 1\nreplication.factor = 1",
            'shop has a table in it; a topic whose name has dots is in quotes: ["shop.orders"].',
        ),
        (
            "[shop.orders]\nreplication.factor = 1",
            'shop has a table in it; a topic whose name has dots is in quotes: ["shop.orders"].',
        ),
        ('[shop.orders]\n"retention.ms" = 5', "-1 for the broker's default; a topic whose name has dots is in quotes."),
        ("[orders]\nreplication.factor = 1", "orders has to have `partitions`, 1 or more"),
        ("[orders]\npartitions = 0\nreplication.factor = 1", "orders has to have `partitions`, 1 or more"),
        ("[orders]\npartitions = 1\nreplication.factor = 0", "or -1 for the broker's default"),
        ('[orders]\npartitions = "{{many}}"\nreplication.factor = 1', "orders has {{many}}, which environment dev has no value"),
        ('[orders]\npartitions = 1\nreplication.factor = 1\ncleanup.policy = ["compact"]', "cleanup.policy is a list"),
        ("[orders]\npartitions = 1\nreplication.factor = 1\nretention.ms = 2026-01-01T00:00:00", "retention.ms is a datetime"),
    ],
)
def test_what_is_wrong_with_a_topic_is_one_sentence(toml: str, sentence: str, tmp_path: Path) -> None:
    folder = project(tmp_path, DEV)
    (folder / "topics.toml").write_text(toml)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        topics(folder, environment(folder, None))


def test_an_application_has_its_settings_with_the_values_of_the_environment(tmp_path: Path) -> None:
    folder = project(tmp_path, DEV + '[applications.a]\napp = "x.py:t"\nconfig = "x.properties"\n[applications.b]\napp = "m"\n')
    (folder / "x.properties").write_text("application.id=a\nnum={{replicas}}\n")
    assert applications(folder, environment(folder, None)) == [
        Application("a", f"{folder}/x.py:t", {"application.id": "a", "num": "3"}),
        Application("b", "m", None),
    ]


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("[applications.a]\n", "applications.a of "),
        ('[applications.a]\napp = "m"\nconf = "c"\n', "has conf, which nothing reads"),
        ('[applications.a]\napp = "m"\nconfig = "x.properties"\n', "its config has {{many}}"),
    ],
)
def test_what_is_wrong_with_an_application_is_one_sentence(toml: str, sentence: str, tmp_path: Path) -> None:
    folder = project(tmp_path, DEV + toml)
    (folder / "x.properties").write_text("n={{many}}\n")
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        applications(folder, environment(folder, None))


def test_client_settings_have_their_secrets_from_config_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROJECT_TEST_PASSWORD", "s3cret-of-the-test")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    providers = f'"config.providers" = "env"\n"config.providers.env.class" = "{provider}"\n'
    kafka = '[environments.dev.kafka]\nbootstrap.servers = "{{kafka}}"\n"ssl.key.password" = "${env:PROJECT_TEST_PASSWORD}"\n'
    env = environment(project(tmp_path, DEV + kafka + providers), None)
    assert env.client_settings() == {"bootstrap.servers": "k:9092", "ssl.key.password": "s3cret-of-the-test"}
    assert "s3cret" not in repr(env)


def test_a_project_with_topics_has_to_say_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"add \[environments.dev.kafka\] with bootstrap.servers"):
        environment(project(tmp_path, DEV), None).client_settings()


def test_the_address_of_a_worker_has_values_and_a_password_of_a_provider(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("password=a/b@c:d\n")
    url = f'url = "https://{{{{user}}}}:${{file:{tmp_path}/secrets:password}}@w:1"\n'
    toml = f'[environments.dev]\n{url}[environments.dev.values]\nuser = "anna"\n[environments.dev.kafka]\n'
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    env = environment(
        project(tmp_path / "a", f'{toml}"config.providers" = "file"\n"config.providers.file.class" = "{provider}"\n'), None
    )
    assert env.worker_url() == "https://anna:a%2Fb%40c%3Ad@w:1"
    with pytest.raises(
        ConfigError, match=r"The url of environment dev has \$\{file:.*, which no config provider has a value for"
    ):
        environment(project(tmp_path / "b", toml), None).worker_url()
    assert environment(project(tmp_path / "c", DEV), None).worker_url() == "http://w:1"
