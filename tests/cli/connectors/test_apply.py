"""`apply`, and what needs no running connector, on a real herder behind REST."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx
from typer.testing import CliRunner

from headrace.cli.app import app
from tests.cli.connectors.conftest import SOURCE, Ended, run
from tests.rest.conftest import Client
from tests.rest.memory_herder import CurrentHerder
from tests.rest.own_plugins import CIPHER
from tests.rest.test_page import KnowingHerder, server_of_users, users

__all__ = ["server_of_users", "users"]

Cli = Callable[..., Ended]
Put = Callable[..., Path]
NAME = "a b/50% größe"


def names(cli: Cli) -> list[str]:
    return sorted(json.loads(cli("list", "--json").out))


def config(url: str, name: str) -> dict[str, str]:
    return httpx.get(f"{url}/connectors/{name}/config", timeout=100).json()


def test_a_folder_is_applied_after_a_diff_and_a_yes(cli: Cli, put: Put, folder: Path):
    put("one")
    put("two", {"topic": "other"})
    ended = cli("apply", str(folder), given="y\n")
    assert ended.status == 0
    assert ended.out.splitlines() == [
        "+ one: new",
        "    + connector.class  FileStreamSource",
        "    + file             /data/in.txt",
        "    + name             one",
        "    + topic            t",
        "+ two: new",
        "    + connector.class  FileStreamSource",
        "    + file             /data/in.txt",
        "    + name             two",
        "    + topic            other",
        "2 to create.",
        "one has been created.",
        "two has been created.",
    ]
    assert names(cli) == ["one", "two"]


def test_without_a_yes_nothing_happens(cli: Cli, put: Put, folder: Path):
    put("one")
    for answer in ("n\n", ""):
        ended = cli("apply", str(folder), given=answer)
        assert (ended.status, "Aborted" in ended.err) == (1, True)
    assert names(cli) == []


def test_a_dry_run_only_shows(cli: Cli, put: Put, folder: Path):
    put("one")
    ended = cli("apply", str(folder), "--dry-run")
    assert (ended.status, ended.out.splitlines()[-1], names(cli)) == (0, "1 to create.", [])


def test_changes_are_shown_key_by_key_and_made(cli: Cli, put: Put, folder: Path, url: str):
    put("one", {"batch.size": "10", "tasks.max": "1"})
    cli("apply", str(folder), "--yes")
    put("one", {"batch.size": "20", "errors.tolerance": "all"})
    ended = cli("apply", str(folder), "--yes")
    assert ended.out.splitlines() == [
        "~ one: changes",
        "    ~ batch.size        10 → 20",
        "    + errors.tolerance  all",
        "    - tasks.max         1",
        "      4 unchanged",
        "1 to change.",
        "one has been changed.",
    ]
    assert config(url, "one") == {**SOURCE, "name": "one", "batch.size": "20", "errors.tolerance": "all"}


def test_applying_the_same_again_asks_nothing_and_does_nothing(cli: Cli, put: Put, folder: Path):
    put("one")
    cli("apply", str(folder), "--yes")
    ended = cli("apply", str(folder))
    assert (ended.status, ended.out) == (0, "= one: unchanged\n1 unchanged.\n")


def test_pruning_deletes_what_is_not_in_the_folder(cli: Cli, put: Put, folder: Path):
    put("one")
    extra = put(NAME)
    cli("apply", str(folder), "--yes")
    extra.unlink()
    assert cli("apply", str(folder), "--yes").out.splitlines()[-1] == "1 unchanged."
    ended = cli("apply", str(folder), "--prune", "--yes")
    assert ended.out.splitlines()[1:] == [
        f"- {NAME}: is deleted", "1 to delete, 1 unchanged.", f"{NAME} has been deleted."
    ]  # fmt: skip
    assert names(cli) == ["one"]


def test_pruning_needs_a_folder(cli: Cli, put: Put):
    ended = cli("apply", str(put("one")), "--prune")
    assert (ended.status, "needs a folder" in ended.err) == (2, True)


def test_one_invalid_configuration_holds_everything_back_and_all_errors_are_told(cli: Cli, put: Put, folder: Path):
    put("good")
    bad = put("bad", {"tasks.max": "many", "errors.tolerance": "some"})
    unknown = put("unknown", {"connector.class": "Nowhere"})
    (folder / "none.properties").write_text("name=none\n")
    ended = cli("apply", str(folder), "--yes")
    assert (ended.status, ended.out, names(cli)) == (1, "", [])
    assert ended.err.startswith("error: Nothing has been done, because not every configuration is valid:\n")
    assert f"{bad} (bad): tasks.max: Invalid value many for configuration tasks.max" in ended.err
    assert f"{bad} (bad): errors.tolerance: Invalid value some" in ended.err
    assert f"{unknown} (unknown): " in ended.err
    assert "Failed to find any class that implements Connector and which name matches Nowhere" in ended.err
    assert f'{folder}/none.properties (none): Missing required configuration "connector.class"' in ended.err


def test_passwords_are_hidden_in_the_diff_the_description_and_the_json(cli: Cli, put: Put, folder: Path, url: str):
    secret = {"producer.override.sasl.jaas.config": "s3cret-1", "sftp.password": "s3cret-2"}
    put("one", secret)
    first = cli("apply", str(folder), "--yes")
    put("one", {key: value + "x" for key, value in secret.items()})
    second = cli("apply", str(folder), "--dry-run", "--json")
    shown = cli("describe", "one")
    assert "producer.override.sasl.jaas.config  [hidden]" in first.out
    assert {"key": "sftp.password", "old": "[hidden]", "new": "[hidden]"} in second.json["connectors"][0]["settings"]
    assert "s3cret" not in first.out + first.err + second.out + second.err + shown.out
    assert config(url, "one")["sftp.password"] == "s3cret-2"


def test_the_password_of_a_transformation_is_hidden_also_when_it_goes_away(cli: Cli, put: Put, folder: Path):
    enc = {"transforms": "enc", "transforms.enc.type": CIPHER, "transforms.enc.cipher.data_keys": "s3cret-1"}
    put("one", enc)
    cli("apply", str(folder), "--yes")
    shown = cli("describe", "one")
    put("one")
    diff = cli("apply", str(folder), "--dry-run")
    assert re.search(r"- transforms.enc.cipher.data_keys +\[hidden\]", diff.out)
    assert "s3cret" not in shown.out + shown.err + diff.out + diff.err


def test_what_is_hidden_from_a_reader_is_no_change(server_of_users: tuple[CurrentHerder, Client], put: Put, folder: Path):
    current, client = server_of_users
    current.current = herder = KnowingHerder()
    secrets = {"connection.password": "s3cret", "connection.url": "jdbc:x://u:s3cret@h"}
    file = put("a", secrets)
    herder.create("a", json.loads(file.read_text())["config"] | {"name": "a"})
    rita, anna = (f"http://{user}:{user[::-1]}@{client.address}" for user in ("rita", "anna"))

    read = run("apply", str(folder), "--dry-run", "--json", url=rita).json["connectors"][0]
    assert (read["action"], read["settings"], read["not_known"]) == ("keep", [], sorted(secrets))
    assert run("apply", str(folder), "--dry-run", url=rita).out.splitlines()[-1] == "1 not known."
    put("a", secrets | {"topic": "u"})
    changed = run("apply", str(folder), "--dry-run", "--json", url=rita).json["connectors"][0]
    assert [setting["key"] for setting in changed["settings"]] == ["topic"]

    put("a", secrets)
    assert run("apply", str(folder), "--dry-run", "--json", url=anna).json["connectors"][0]["not_known"] == []
    herder.configs["a"]["connection.password"] = "[hidden]"  # as somebody has copied it: an admin sees what it is
    seen = run("apply", str(folder), "--dry-run", "--json", url=anna).json["connectors"][0]
    assert (seen["action"], seen["not_known"]) == ("change", [])

    project = folder.parent / "project.toml"
    for user, status in ((rita, 1), (anna, 3)):
        project.write_text(f'[environments.dev]\nurl = "{user}"\n')
        for command in ("plan", "drift"):
            ended = CliRunner().invoke(app, ["project", command, str(folder.parent)])
            assert ended.exit_code == status, ended.output
            assert "s3cret" not in ended.output


def test_as_json_it_is_the_diff_and_the_answers(cli: Cli, put: Put, folder: Path):
    put("one")
    ended = cli("apply", str(folder), "--json", given="y\n")
    (one,) = ended.json["connectors"]
    assert (one["name"], one["action"], one["answer"]["name"], one["answer"]["type"]) == ("one", "create", "one", "source")
    assert "+ one: new" in ended.err
    assert cli("apply", str(folder), "--json").json == {
        "connectors": [{"name": "one", "action": "keep", "settings": [], "unchanged": 4, "not_known": [], "answer": None}]
    }


def test_a_name_with_everything_in_it_works(cli: Cli, put: Put):
    file = put(NAME)
    assert cli("create", str(file)).out == f"{NAME} has been created.\n"
    assert cli("describe", NAME, "--json").json["info"]["name"] == NAME
    assert cli("offsets", "show", NAME).out == "No offsets are committed.\n"
    assert NAME in cli("list").out
    assert cli("delete", NAME).out == f"{NAME} has been deleted.\n"
    assert cli("delete", NAME).err == f"error: Connector {NAME} not found\n"


def test_creating_twice_is_one_sentence_and_status_1(cli: Cli, put: Put):
    file = put("one")
    cli("create", str(file))
    assert cli("create", str(file)) == Ended(1, "", "error: Connector one already exists\n")


def test_validate_lists_every_error_and_is_status_1(cli: Cli, put: Put):
    ended = cli("validate", str(put("bad", {"errors.tolerance": "some", "topic": ""})))
    assert ended.status == 1
    assert ended.err == "error: The configuration of bad is invalid; errors: 2.\n"
    assert "Invalid value some for configuration errors.tolerance" in ended.out
    assert cli("validate", str(put("good"))) == Ended(0, "The configuration of good is valid.\n", "")


def test_validate_as_json_is_the_answer_with_status_1_for_errors(cli: Cli, put: Put):
    ended = cli("validate", str(put("bad", {"topic": ""})), "--json")
    assert (ended.status, ended.json["error_count"]) == (1, 1)
    assert cli("validate", str(put("good")), "--json").json["error_count"] == 0


def test_there_may_be_nothing_to_list(cli: Cli):
    assert cli("list") == Ended(0, "There are no connectors.\n", "")
    assert cli("list", "--json") == Ended(0, "{}\n", "")


def test_the_offsets_of_a_stopped_connector_are_set_and_reset(cli: Cli, put: Put, tmp_path: Path):
    cli("create", str(put("one")))
    partition, offset = '{"filename": "/data/in.txt"}', '{"position": 7}'
    assert cli("offsets", "set", "one", "--partition", partition, "--offset", offset).status == 0
    kept = cli("offsets", "show", "one", "--json")
    assert kept.json == {"offsets": [{"partition": json.loads(partition), "offset": json.loads(offset)}]}
    assert partition in cli("offsets", "show", "one").out
    assert "reset successfully" in cli("offsets", "reset", "one").out
    (tmp_path / "kept.json").write_text(kept.out)
    assert "altered successfully" in cli("offsets", "set", "one", str(tmp_path / "kept.json")).out
    assert cli("offsets", "show", "one", "--json").out == kept.out
    cli("offsets", "set", "one", "--partition", partition, "--offset", "null")
    assert cli("offsets", "show", "one", "--json").json == {"offsets": []}


def test_wrong_offsets_are_told_before_anything_is_sent(cli: Cli, tmp_path: Path):
    pair = ("--partition", "{}", "--offset")
    assert "give FILE, or --partition and --offset" in cli("offsets", "set", "one").err
    assert "equally often" in cli("offsets", "set", "one", "--partition", "{}").err
    assert "is not valid JSON" in cli("offsets", "set", "one", *pair, "{").err
    assert "is no JSON object" in cli("offsets", "set", "one", *pair, "7").err
    (tmp_path / "o.json").write_text("{")
    assert cli("offsets", "set", "one", str(tmp_path / "o.json")).err.startswith(f"error: The offsets file {tmp_path}/o.json is")


def test_an_empty_name_is_refused(cli: Cli):
    assert "the name of a connector is not empty" in cli("delete", "").err
