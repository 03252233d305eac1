"""Who changed what, and what became of connectors: over REST, on the page, for those who may see it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.cluster.event_log import EventLog
from headrace.cluster.standalone.stores import MemoryLog
from headrace.cluster.status_reporter import FAILED, RUNNING, StatusReporter
from headrace.errors import ConnectError
from headrace.rest import passwords
from tests.rest.conftest import Answer, Client
from tests.rest.memory_herder import MemoryHerder

CONFIG: dict[str, Any] = {"connector.class": "FileStreamSource", "file": "/x", "topic": "t"}


@pytest.fixture
def ask(serve: Callable[..., Client], herder: MemoryHerder, tmp_path: Path) -> Callable[..., Answer]:
    """Sends a request as `rita` (read) or `anna` (admin)."""
    herder.create("a/b", dict(CONFIG))
    users = tmp_path / "users"
    users.write_text("".join(f"{name}={role}:{passwords.hashed('x')}\n" for name, role in (("rita", "read"), ("anna", "admin"))))
    client = serve({"rest.authentication": "basic", "rest.authentication.users.file": str(users)})

    def send(user: str, method: str, path: str, headers: dict[str, str] | None = None, raw: str | None = None) -> Answer:
        login = {"Authorization": "Basic " + base64.b64encode(f"{user}:x".encode()).decode()}
        origin = {"Origin": f"http://{client.address}", "Host": client.address} if headers else {}
        return client(method, path, headers={**login, **origin, **(headers or {})}, raw=raw)

    return send


def test_every_change_is_remembered_with_who_what_from_where_and_its_result(ask: Callable[..., Answer]):
    ask("anna", "PUT", "/connectors/a%2Fb/pause")
    ask("rita", "PUT", "/connectors/a%2Fb/resume")
    ask("anna", "POST", "/connectors/none/restart?includeTasks=true")
    ask("anna", "GET", "/connectors")
    ask("nobody", "DELETE", "/connectors/a%2Fb")
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [(e.get("user"), e["method"], e["path"], e["status"]) for e in entries] == [
        ("anna", "PUT", "/connectors/a/b/pause", 202),
        ("rita", "PUT", "/connectors/a/b/resume", 403),
        ("anna", "POST", "/connectors/none/restart", 404),
        (None, "DELETE", "/connectors/a/b", 401),
    ]
    assert (entries[0]["connector"], entries[0]["address"], entries[0]["via"]) == ("a/b", "127.0.0.1", "rest")
    assert (entries[2]["query"], entries[2]["message"]) == ("includeTasks=true", "Unknown connector: none")
    assert "role operate" in entries[1]["message"]


def test_a_change_by_the_page_is_remembered_once_and_as_such(ask: Callable[..., Answer]):
    sent = {"HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded"}
    assert ask("anna", "POST", "/ui/act", sent, "action=pause&name=a%2Fb").status == 200
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [(e["user"], e["via"], e["path"], e["status"]) for e in entries] == [
        ("anna", "page", "/headrace/connectors/actions", 200)
    ]


def test_what_the_page_or_another_site_was_refused_is_remembered(ask: Callable[..., Answer]):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert ask("rita", "POST", "/ui/act", {"HX-Request": "true", **form}, "action=pause&name=a%2Fb").status == 403
    elsewhere = {"Origin": "http://elsewhere.example", "HX-Request": "true"}
    assert ask("anna", "POST", "/ui/act", {**elsewhere, **form}, "action=pause&name=a%2Fb").status == 403
    assert ask("anna", "PUT", "/connectors/a%2Fb/pause", elsewhere).status == 403
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [(e.get("user"), e["via"], e["method"], e["path"], e["status"]) for e in entries] == [
        ("rita", "page", "POST", "/ui/act", 403),
        (None, "page", "POST", "/ui/act", 403),
        (None, "rest", "PUT", "/connectors/a/b/pause", 403),
    ]


def test_what_was_asked_for_is_named_without_values(ask: Callable[..., Answer]):
    sent = {"Content-Type": "application/json"}
    ask("anna", "POST", "/connectors", sent, json.dumps({"name": "new", "config": {**CONFIG, "password": "s3cret"}}))
    ask("anna", "PUT", "/connectors/new/config", sent, json.dumps({**CONFIG, "name": "new", "topic": "u", "password": "other"}))
    ask("anna", "PATCH", "/connectors/new/config", sent, '{"topic": "v"}')
    ask("anna", "POST", "/headrace/connectors/actions", sent, '{"action": "stop", "connectors": ["new", "a/b"]}')
    answer = ask("anna", "GET", "/headrace/audit")
    assert [(e.get("connector"), e.get("detail")) for e in answer.json["entries"]] == [
        ("new", None), ("new", "settings: password, topic"), ("new", "settings: topic"), (None, "stop: new, a/b"),
    ]  # fmt: skip
    assert "s3cret" not in answer.text
    of_one = ask("anna", "GET", "/headrace/audit?connector=a/b").json["entries"]
    assert [(e["connectors"], e["detail"]) for e in of_one] == [(["new", "a/b"], "stop: new, a/b")]


def test_only_admins_see_who_did_what(ask: Callable[..., Answer]):
    ask("anna", "PUT", "/connectors/a%2Fb/pause")
    assert ask("rita", "GET", "/headrace/audit").status == 403
    page = ask("rita", "GET", "/ui/audit")
    assert (page.status, "needs the role admin" in page.text, "pause" in page.text) == (200, True, False)
    assert "/connectors/a/b/pause" in ask("anna", "GET", "/ui/audit").text


def test_the_history_of_a_connector_has_the_causes(call: Client, herder: MemoryHerder):
    class Nowhere:
        """A status topic that is not looked at."""

        def __getattr__(self, _name: str) -> Callable[..., None]:
            return lambda *_arguments: None

    herder.create("c", dict(CONFIG))
    reports = StatusReporter(Nowhere(), "w:1", False, history=herder.history)  # type: ignore[arg-type]
    reports.task("c", 0, RUNNING, "1")
    error = ConnectError("Nothing can be written.")
    error.__cause__ = ConnectError("The disk is full.")
    reports.task("c", 0, FAILED, "1", error, {"attempts": 2, "budget": 10, "history": []})
    reports.connector("other", RUNNING, "1")
    entries = call("GET", "/headrace/connectors/c/history").json["entries"]
    assert [(e["task"], e["state"], e.get("cause", "")[-17:]) for e in entries] == [
        (0, RUNNING, ""),
        (0, FAILED, "The disk is full."),
    ]
    assert entries[-1]["restart"] == {"attempts": 2, "budget": 10}
    shown = call("GET", "/ui/connector/history?name=c").text
    assert shown.index("Nothing can be written.") < shown.index("The disk is full.") < shown.index("running")
    assert "2 of 10 times" in shown
    assert call("GET", "/headrace/connectors/none/history").status == 404
    assert call("GET", "/headrace/connectors/c/history?lines=x").status == 400


def test_events_that_come_before_the_topic_is_read_are_written_then():
    events = EventLog(MemoryLog)
    events.add(connector="c", state="RUNNING")
    assert [event["state"] for event in events.last(9)] == ["RUNNING"]
    events._start(MemoryLog(lambda _record: None))
    events.add(connector="c", state="FAILED")
    assert events.durable


def test_without_a_topic_events_are_kept_in_memory_and_a_warning_says_so(events: list[Any]):
    def refused() -> None:
        raise ConnectError("Not authorized to create topic 'x'.")

    log = EventLog(MemoryLog, refused)
    log.add(connector="c", state="RUNNING")
    log._start(MemoryLog(lambda _record: None))
    log.add(connector="c", state="FAILED")
    assert ([event["state"] for event in log.last(9)], log.durable) == (["RUNNING", "FAILED"], False)
    assert [event["cause"] for event in events if event["event"] == "events.in-memory"] == ["Not authorized to create topic 'x'."]
    assert log.last(1, connector="d") == []
