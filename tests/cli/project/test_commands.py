"""`headrace project` against a herder behind REST, in this process; its tests of chains on the session's Spark."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from headrace.cli.app import app
from headrace.cli.preview import default_worker
from headrace.cli.project import chains
from headrace.cli.project.drift import ProjectDrift
from headrace.cli.project.folder import ChainTest, chain_tests, connectors, environment
from headrace.config.redaction import remember
from headrace.errors import ConfigError, SetupError
from tests.cli.command import headrace
from tests.cli.connectors.conftest import SOURCE, url
from tests.process import worker_properties

__all__ = ["url"]

SHORT = '"request.timeout.ms" = 500\n"default.api.timeout.ms" = 1000\n'  # how long a cluster that is away is waited for


def project(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["project", *arguments], env={"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"})


@pytest.fixture
def example(tmp_path: Path) -> Path:
    made = project("init", str(tmp_path / "example"))
    assert made.exit_code == 0, made.output
    return tmp_path / "example"


@pytest.fixture
def folder(tmp_path: Path, url: str) -> Path:
    """A project of one connector that is created STOPPED: its herder has no Spark."""
    (tmp_path / "p" / "connectors").mkdir(parents=True)
    (tmp_path / "p" / "project.toml").write_text(f'[environments.dev]\nurl = "{url}"\n[environments.dev.values]\ntopic = "t1"\n')
    body = {"name": "a", "config": {**SOURCE, "topic": "{{topic}}"}, "initial_state": "STOPPED"}
    (tmp_path / "p" / "connectors" / "a.json").write_text(json.dumps(body))
    return tmp_path / "p"


def test_plan_apply_and_drift_tell_by_their_status_whether_anything_differs(folder: Path, url: str) -> None:
    planned = project("plan", str(folder))
    assert planned.exit_code == 3, planned.output
    assert "1 to create" in planned.output
    assert httpx.get(f"{url}/connectors", timeout=100).json() == []
    assert json.loads(project("drift", str(folder), "--json").stdout)["connectors"] == {"a": "missing"}
    assert project("drift", str(folder)).exit_code == 3

    applied = project("apply", str(folder), "--yes")
    assert applied.exit_code == 0, applied.output
    assert httpx.get(f"{url}/connectors/a/config", timeout=100).json()["topic"] == "t1"
    assert project("plan", str(folder)).exit_code == 0
    assert project("drift", str(folder)).exit_code == 0

    httpx.patch(f"{url}/connectors/a/config", json={"topic": "by hand"}, timeout=100).raise_for_status()
    drifted = project("drift", str(folder), "--json")
    assert drifted.exit_code == 3
    assert json.loads(drifted.stdout)["connectors"] == {"a": ["topic"]}


def test_nothing_is_applied_without_a_yes_or_if_a_connector_is_invalid(folder: Path, url: str) -> None:
    assert project("apply", str(folder)).exit_code == 1
    broken = folder / "connectors" / "b.json"
    broken.write_text(json.dumps({"name": "b", "config": {"connector.class": "FileStreamSource"}}))
    refused = project("apply", str(folder), "--yes")
    assert isinstance(refused.exception, ConfigError)
    assert "Nothing has been done" in str(refused.exception)
    assert httpx.get(f"{url}/connectors", timeout=100).json() == []


def test_a_folder_that_is_not_empty_is_left_alone(example: Path) -> None:
    before = (example / "project.toml").read_text()
    again = project("init", str(example))
    assert again.exit_code == 1
    assert (example / "project.toml").read_text() == before


@pytest.mark.parametrize("above", ["a-file", "/proc/no-such-folder"])
def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, above: str) -> None:
    (tmp_path / "a-file").touch()
    failed = project("init", str(tmp_path / above / "p"))
    assert isinstance(failed.exception, SetupError)
    assert "cannot be made (" in str(failed.exception)


def test_the_tests_of_the_example_pass_and_a_wrong_one_says_what_differs(example: Path, spark) -> None:
    env = environment(example, None)
    config = connectors(example, env)["orders"].config
    (good,) = chain_tests(example)
    worker = default_worker(None, lambda _: spark)
    assert chains.run(good, config, worker, spark) == []
    wrong = ChainTest(good.file, "orders", good.records, [{"topic": "orders", "value": {"id": 1, "card": "4111"}}])
    assert chains.run(wrong, config, worker, spark) == [
        'record 1: topic is "copy.orders" instead of "orders"',
        'record 1: value is {"id": 1, "card": ""} instead of {"id": 1, "card": "4111"}',
    ]


def add_test(folder: Path, name: str, **changes: object) -> None:
    content = json.loads((folder / "tests" / "orders.json").read_text()) | changes
    (folder / "tests" / f"{name}.json").write_text(json.dumps(content))


@pytest.mark.usefixtures("spark", "logging_restored")
def test_the_command_ends_with_0_where_all_tests_pass_and_with_1_and_the_reasons_where_one_fails(example: Path) -> None:
    passed = project("test", str(example))
    assert passed.exit_code == 0, passed.output
    assert passed.stdout.splitlines() == ["passed  tests/orders.json", "1 passed, 0 failed"]
    add_test(example, "other", expect=[None])
    add_test(example, "unknown", connector="order")
    failed = project("test", str(example))
    assert failed.exit_code == 1
    assert failed.stdout.splitlines() == [
        "passed  tests/orders.json",
        "failed  tests/other.json",
        "        record 1: it should be dropped, and is passed to copy.orders",
        "failed  tests/unknown.json",
        "        there is no connector order; there are orders",
        "1 passed, 2 failed",
    ]


@pytest.mark.slow
def test_tests_of_chains_have_the_settings_of_spark_that_the_worker_has(example: Path) -> None:
    file = example / "project.toml"
    file.write_text(file.read_text().replace("[environments.dev]\n", '[environments.dev]\nworker = "w.properties"\n'))
    worker = worker_properties("tests", "http://127.0.0.1:0") | {
        "bootstrap.servers": "localhost:9092", "spark.sql.session.timeZone": "Asia/Tokyo", "spark.master": "spark://127.0.0.1:1",
    }  # fmt: skip
    (example / "w.properties").write_text("".join(f"{key}={value}\n" for key, value in worker.items()))
    connector = example / "connectors" / "orders.json"
    body = json.loads(connector.read_text())
    body["config"] |= {
        "transforms": "sql",
        "transforms.sql.type": "headrace.transforms.Sql",
        "transforms.sql.value": "hour(timestamp)",
    }
    connector.write_text(json.dumps(body))
    add_test(example, "orders", records=[{"topic": "orders", "value": "{}", "timestamp": 0}], expect=[{"value": 9}])
    ended = headrace("project", "test", str(example))
    assert ended.stdout.splitlines() == ["passed  tests/orders.json", "1 passed, 0 failed"], ended.stderr


@pytest.mark.usefixtures("spark", "logging_restored")
def test_a_project_with_tests_and_no_connectors_says_so(example: Path) -> None:
    (example / "connectors" / "orders.json").unlink()
    (example / "connectors").rmdir()
    failed = project("test", str(example))
    assert failed.exit_code == 1
    assert "        there is no connector orders, as the project has none" in failed.stdout.splitlines()


def test_a_project_without_tests_and_an_environment_that_is_not_there_are_one_sentence_each(example: Path) -> None:
    assert isinstance(unknown := project("test", str(example), "--env", "other").exception, ConfigError)
    assert "has no environment 'other'; it has dev, prod." in str(unknown)
    (example / "tests" / "orders.json").unlink()
    without = project("test", str(example))
    assert without.exit_code == 1
    assert str(without.exception) == f"{example / 'tests'} has no test; a test is a file NAME.json."


def test_drift_ends_with_1_where_the_worker_or_a_topic_cannot_be_asked(folder: Path) -> None:
    file = folder / "project.toml"
    file.write_text(f'{file.read_text()}[environments.dev.kafka]\nbootstrap.servers = "127.0.0.1:1"\n{SHORT}')
    (folder / "topics.toml").write_text("[orders]\npartitions = 1\nreplication.factor = 1\n")
    (folder / "connectors" / "a.json").unlink()
    (folder / "connectors").rmdir()
    unknown = project("drift", str(folder), "--json")
    assert unknown.exit_code == 1
    assert json.loads(unknown.stdout)["not_known"][0].startswith("topics.toml: ")

    file.write_text('[environments.dev]\nurl = "http://127.0.0.1:1"\n')
    (folder / "topics.toml").unlink()
    (folder / "connectors").mkdir()
    (folder / "connectors" / "a.json").write_text(json.dumps({"name": "a", "config": SOURCE}))
    away = project("drift", str(folder))
    assert (away.exit_code, away.stdout) == (1, "")
    assert away.stderr.startswith("No worker can be reached at http://127.0.0.1:1")
    assert away.stderr.endswith("; start one, or name another by `url` of environment dev in project.toml.\n")


def test_an_address_that_is_none_is_that_of_the_environment(example: Path) -> None:
    file = example / "project.toml"
    file.write_text(file.read_text().replace("http://localhost:8083", "localhost:8083"))
    (example / "topics.toml").unlink()
    planned = project("plan", str(example))
    assert str(planned.exception).endswith("like http://localhost:8083; see `url` of environment dev in project.toml.")


SECRET = "secret-host.invalid"
KAFKA = """
"config.providers" = "env,other"
"config.providers.env.class" = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
"bootstrap.servers" = "${env:SERVERS_OF_A_TEST}"
"""


@pytest.mark.slow
def test_a_value_of_a_provider_is_not_shown_nor_what_the_client_logs_of_a_problem(tmp_path: Path) -> None:
    (tmp_path / "project.toml").write_text(
        f'[environments.dev]\nurl = "http://127.0.0.1:1"\n[environments.dev.kafka]{KAFKA}{SHORT}'
    )
    (tmp_path / "topics.toml").write_text("[orders]\npartitions = 1\nreplication.factor = 1\n")
    ended = headrace("project", "drift", str(tmp_path), environ={"SERVERS_OF_A_TEST": f"{SECRET}:9092"})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert SECRET not in ended.stderr
    warning, sentence = ended.stderr.splitlines()
    assert "The config provider other is not used" in warning
    assert sentence.startswith("topics.toml: Could not reach the Kafka cluster at '${env:SERVERS_OF_A_TEST}'")


def test_a_value_of_a_provider_is_not_in_the_json_of_drift() -> None:
    remember('a "b"  c.invalid:1', "${file:d:e}")
    assert ProjectDrift(not_known=['No cluster at a "b"  c.invalid:1.']).json()["not_known"] == ["No cluster at ${file:d:e}."]


FAILED = {"outcome": "failed", "failure": {"message": "No such field", "cause": "x"}, "output": None}
DROPPED = {"outcome": "dropped", "dropped_by": "drop", "failure": None, "output": None}
PASSED = {"outcome": "passed", "failure": None, "output": {"topic": "t", "key": None, "value": "plain"}}


@pytest.mark.parametrize(
    ("expected", "record", "differences"),
    [
        (None, DROPPED, []),
        (None, PASSED, ["it should be dropped, and is passed to t"]),
        ({"failure": "No such"}, FAILED, []),
        ({"failure": "other"}, FAILED, ["it should fail with 'other', and is failed: No such field"]),
        ({"topic": "t"}, FAILED, ["it should pass, and is failed: No such field"]),
        ({"topic": "t"}, DROPPED, ["it should pass, and is dropped by drop"]),
        ({"key": None, "value": "plain"}, PASSED, []),
        ({"value": {"a": 1}}, PASSED, ["value is not JSON: 'plain'"]),
    ],
)
def test_what_comes_out_is_compared_with_what_is_expected(expected, record, differences) -> None:
    assert chains.compare(expected, record) == differences


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ('{"paid": 1}', '{"paid": true}', False),
        ("[0]", "[false]", False),
        ("true", "true", True),
        ('{"n": 12345678901234567.89}', '{"n": 12345678901234568.10}', False),
        ('{"n": 12345678901234567.89}', '{"n": 12345678901234567.890}', True),
        ('{"n": [1, {"a": null}]}', '{"n": [1.0, {"a": null}]}', True),
        ('{"n": [1]}', '{"n": [1, 2]}', False),
        ("null", "null", False),
        ('"null"', "null", True),
    ],
)
def test_values_that_only_python_takes_for_equal_differ(tmp_path: Path, expected: str, actual: str, same: bool) -> None:
    (tmp_path / "tests").mkdir()
    text = f'{{"connector": "c", "records": [{{"timestamp": 1.5}}], "expect": [{{"value": {expected}}}]}}'
    (tmp_path / "tests" / "a.json").write_text(text)
    (test,) = chain_tests(tmp_path)
    assert test.records == [{"timestamp": 1.5}]
    differences = chains.compare(test.expect[0], PASSED | {"output": {"value": actual}})
    shown = json.dumps(actual) if expected == "null" else actual
    assert differences == ([] if same else [f"value is {shown} instead of {expected}"])


def test_a_member_that_no_record_has_is_an_error() -> None:
    with pytest.raises(ConfigError, match="has no member 'valu'"):
        chains.compare({"valu": 1}, PASSED)
