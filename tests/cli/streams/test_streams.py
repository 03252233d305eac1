"""`headrace streams` against a real broker, in this process; how a process ends is in tests/cli."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner, Result

from headrace.cli.app import app
from headrace.embedded import Broker
from headrace.errors import HeadraceError
from headrace.kafka.admin import Admin
from tests.clusters import Cluster

Run = Callable[..., Result]


@pytest.fixture
def name(topic_name: Callable[[str], str]) -> str:
    return topic_name("cli")


@pytest.fixture
def file(tmp_path: Path, name: str, destination_broker: Broker) -> Path:
    path = tmp_path / "words.py"
    path.write_text(
        dedent(f"""
        from headrace.streams import Materialized, StreamsBuilder

        config = {{"application.id": "{name}", "bootstrap.servers": "{destination_broker.bootstrap}"}}

        def topology():
            builder = StreamsBuilder()
            builder.stream("{name}-words").group_by(lambda key, value: value).count(Materialized.as_("counts"))
            return builder
        """)
    )
    return path


@pytest.fixture
def run(file: Path) -> Run:
    return lambda command, *options: CliRunner().invoke(app, ["streams", command, str(file), *options])


@pytest.fixture
def admin(destination_broker: Broker, name: str) -> Admin:
    admin = Admin({"bootstrap.servers": destination_broker.bootstrap})
    admin.create(f"{name}-words", 2, 1)
    return admin


def internal(admin: Admin, name: str) -> list[str]:
    return sorted(topic for topic in admin.topics() if topic.startswith(f"{name}-counts"))


def test_describe_prints_the_topology(run: Run, name: str):
    head = f"Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [{name}-words])"
    assert run("describe").output.startswith(head)


def test_plan_and_a_dry_run_show_everything_and_change_nothing(run: Run, admin: Admin, name: str):
    planned = json.loads(run("plan", "--json").output)
    assert [(topic["name"], topic["partitions"], topic["state"]) for topic in planned["topics"]] == [
        (f"{name}-counts-changelog", 2, "missing"),
        (f"{name}-counts-repartition", 2, "missing"),
    ]
    assert "repartition" in run("plan").output
    assert f"{name}-counts-changelog would be created: changelog, partitions: 2." in run("init", "--dry-run").output
    assert internal(admin, name) == []


def test_init_creates_what_was_planned_and_verify_is_content(run: Run, admin: Admin, name: str):
    assert "Missing internal topics" in str(run("verify").exception)
    assert f"{name}-counts-repartition has been created: repartition, partitions: 2." in run("init").output
    assert internal(admin, name) == [f"{name}-counts-changelog", f"{name}-counts-repartition"]
    assert run("verify").output == "All is well with 2 internal topics.\n"
    admin.delete([f"{name}-counts-changelog"])
    assert "Some but not all" in str(run("init").exception)
    assert f"{name}-counts-changelog has been created" in run("init", "--setup-if-incomplete").output


def test_a_check_says_by_its_status_how_the_topics_are_and_creates_none(run: Run, admin: Admin, destination: Cluster, name: str):
    names = [f"{name}-counts-changelog", f"{name}-counts-repartition"]

    def status() -> int:
        return run("init", "--check").exit_code

    assert (status(), internal(admin, name)) == (3, [])
    run("init")
    assert (status(), internal(admin, name)) == (0, names)
    destination.alter(names[0], {"cleanup.policy": "delete"})
    assert status() == 5
    assert "cleanup.policy" in run("init", "--check").output
    admin.delete(names[:1])
    assert (status(), internal(admin, name)) == (4, names[1:])
    assert json.loads(run("init", "--check", "--json").output)["topics"][0]["state"] == "missing"


def test_a_check_says_that_a_source_topic_is_missing(run: Run, name: str):
    answer = run("init", "--check")
    assert answer.exit_code == 6
    assert f"{name}-words" in answer.output


def test_a_check_of_a_cluster_that_does_not_answer_has_the_status_of_any_other_error(run: Run):
    answer = run("init", "--check", "--set", "bootstrap.servers=127.0.0.1:1", "--set", "max.poll.interval.ms=1000")
    assert answer.exit_code == 1
    assert isinstance(answer.exception, HeadraceError)


@pytest.mark.parametrize("way", ["--check", "--dry-run", "--json"])
def test_a_time_out_is_one_of_every_way_to_ask(run: Run, way: str):
    answer = run("init", way, "--timeout", "0.7", "--set", "bootstrap.servers=127.0.0.1:1", "--set", "max.poll.interval.ms=6000")
    assert "within 700 milliseconds" in str(answer.exception)


def test_a_setting_on_the_command_line_wins(run: Run, admin: Admin):
    answer = json.loads(run("plan", "--json", "--set", "topic.segment.bytes=7777777").output)
    assert {topic["configs"]["segment.bytes"] for topic in answer["topics"]} == {"7777777"}


@pytest.mark.parametrize(
    ("app_name", "sentence"),
    [
        ("nowhere.py", "There is no file nowhere.py."),
        ("nowhere_at_all", "There is no module nowhere_at_all here"),
        ("headrace.errors", "headrace.errors has no `topology`; name its topology as headrace.errors:NAME."),
        ("headrace.streams.naming:MAX_LENGTH", "`MAX_LENGTH` of headrace.streams.naming is a int, but should be"),
    ],
)
def test_what_is_no_application_is_told_in_one_sentence(app_name: str, sentence: str):
    answer = CliRunner().invoke(app, ["streams", "describe", app_name])
    assert isinstance(answer.exception, HeadraceError)
    assert sentence in str(answer.exception)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("def topology(: pass", "line 1: invalid syntax"),
        ("import absent_module", "line 1: ModuleNotFoundError: No module named 'absent_module'"),
        ("def topology():\n    return 1 / 0", "line 2: ZeroDivisionError: division by zero"),
    ],
)
def test_what_fails_in_an_application_is_told_with_file_and_line(tmp_path: Path, code: str, sentence: str):
    file = tmp_path / "broken.py"
    file.write_text(code)
    answer = CliRunner().invoke(app, ["streams", "describe", str(file)])
    assert str(answer.exception) == f"{file} cannot be loaded: {file}, {sentence}"


def test_an_application_that_cannot_run_here_is_described(tmp_path: Path):
    file = tmp_path / "refused.py"
    file.write_text(
        "from headrace.streams import Materialized, Stores, StreamsBuilder\n"
        "topology, config = StreamsBuilder(), {'application.id': 'app', 'bootstrap.servers': 'none:1'}\n"
        "kept = Materialized.as_(Stores.persistent_versioned_key_value_store('kept', 1000))\n"
        "topology.stream('words').group_by_key().count(kept)\n"
    )
    described = CliRunner().invoke(app, ["streams", "describe", str(file)])
    assert (described.exit_code, described.output.splitlines()[0]) == (0, "Topologies:")
    assert "(stores: [kept])" in described.output
    assert "the store kept is versioned" in str(CliRunner().invoke(app, ["streams", "plan", str(file)]).exception)


def test_an_application_without_an_id_is_told_so(tmp_path: Path):
    file = tmp_path / "bare.py"
    file.write_text("from headrace.streams import StreamsBuilder\ntopology = StreamsBuilder()\ntopology.stream('a').to('b')\n")
    answer = CliRunner().invoke(app, ["streams", "plan", str(file)])
    assert str(answer.exception) == 'Missing required configuration "application.id" which has no default value.'
