"""Dead letters over REST, as far as no broker is asked: who may do what, and what is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.rest import passwords
from headrace.rest.page.render import render
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder

DLQ = {"errors.deadletterqueue.topic.name": "letters", "errors.tolerance": "all"}
CONFIG: dict[str, Any] = {"connector.class": "FileStreamSink", "topics": "t", **DLQ}
PATH = "/headrace/dead-letters/letters"


@pytest.mark.parametrize("path", ["/headrace/dead-letters/t", "/headrace/dead-letters/__consumer_offsets"])
def test_only_dead_letter_topics_of_connectors_can_be_looked_at(call: Client, herder: MemoryHerder, path: str):
    herder.create("c", dict(CONFIG))
    assert call("GET", path).status == 404
    assert call("POST", path + "/replay", {"letters": ["0:1"]}).status == 404


def test_a_topic_that_several_clusters_have_needs_a_connector(call: Client, herder: MemoryHerder):
    herder.create("here", dict(CONFIG))
    herder.create("near", {**CONFIG, "producer.override.bootstrap.servers": "localhost:9092"})
    herder.create("far", {**CONFIG, "producer.override.bootstrap.servers": "far:1"})
    for answer in (call("GET", PATH), call("POST", PATH + "/replay", {"letters": ["0:1"]})):
        assert (answer.status, "name the connector: one of here, near, far" in answer.message) == (400, True)


def test_from_a_page_without_letters_the_older_ones_can_be_reached():
    page: dict[str, Any] = {"topic": "letters", "connectors": ["c"], "letters": [], "reasons": [], "before": "0:20"}
    here = {"sentence": "", "topic": "letters", "connector": "", "before": ""}
    shown = render("dead_letters_page.html", page=page, **here)
    assert "before=0%3A20" in shown and "No record has failed" not in shown
    assert "No record has failed" in render("dead_letters_page.html", page={**page, "before": None}, **here)


def test_without_connectors_there_are_no_topics(call: Client):
    assert call("GET", "/headrace/dead-letters").json == {"topics": []}


@pytest.mark.parametrize(
    ("what", "body", "sentence"),
    [
        ("replay", {}, '"letters" has to be a list'),
        ("replay", {"letters": ["1"]}, "names no dead letter"),
        ("replay", {"letters": ["0:1"], "dry_run": "yes"}, "has to be true or false"),
        ("replay", {"letters": ["0:1"], "config": {}}, 'Unrecognized field "config"'),
        ("preview", {"letters": ["0:1"], "again": True}, 'Unrecognized field "again"'),
    ],
)
def test_a_wrong_request_is_the_clients_fault(call: Client, herder: MemoryHerder, what: str, body: Any, sentence: str):
    herder.create("c", dict(CONFIG))
    answer = call("POST", f"{PATH}/{what}", body)
    assert (answer.status, sentence in answer.message) == (400, True)


def test_a_reader_may_not_replay_and_a_refusal_is_in_the_audit(
    serve: Callable[..., Client], herder: MemoryHerder, tmp_path: Path
):
    herder.create("c", dict(CONFIG))
    (tmp_path / "users").write_text(
        "".join(f"{name}:{passwords.hashed('x')}\n" for name in ("rita=read", "olaf=operate", "anna=admin"))
    )
    client = serve({"rest.authentication": "basic", "rest.authentication.users.file": str(tmp_path / "users")})

    def ask(user: str, what: str) -> int:
        login = "Basic " + base64.b64encode(f"{user}:x".encode()).decode()
        headers = {"Authorization": login, "Content-Type": "application/json"}
        return client("POST", f"{PATH}/{what}", headers=headers, raw=json.dumps({"letters": ["0-1"]})).status

    assert [ask(user, "replay") for user in ("rita", "olaf")] == [403, 400]
    assert [ask(user, "preview") for user in ("rita", "olaf", "anna")] == [403, 403, 400]
    entries = [(one["user"], one["status"], one.get("detail")) for one in herder.audit.last(9)]
    assert entries == [("rita", 403, None), ("olaf", 400, "letters: 0-1")]  # a body that is refused is not read


def test_an_audit_by_connector_has_the_replays_of_its_letters(call: Client, herder: MemoryHerder):
    for name, topic in (("a/b", "letters"), ("c", "letters"), ("d", "others")):
        herder.create(name, {**CONFIG, "errors.deadletterqueue.topic.name": topic})
    call("POST", f"{PATH}/replay", {"letters": ["0-1"], "connector": "a/b"})
    call("POST", f"{PATH}/replay", {"letters": ["0-2"]})

    def details(connector: str) -> list[str]:
        return [entry["detail"] for entry in call("GET", f"/headrace/audit?connector={connector}").json["entries"]]

    assert details("a/b") == ["letters: 0-1", "letters: 0-2"]
    assert (details("c"), details("d")) == (["letters: 0-2"], [])
