"""Who changed what, and what became of connectors: over REST, on the page, for those who may see it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from headrace.cluster.event_log import STRANGERS_IN_MEMORY, EventLog, EventLogs
from headrace.cluster.herder import Herder
from headrace.cluster.recent_events import IN_MEMORY
from headrace.cluster.standalone.stores import MemoryLog
from headrace.cluster.status_reporter import StatusReporter
from headrace.errors import ConnectError
from headrace.rest import passwords, period_limit
from headrace.rest.audit import Audit
from headrace.runtime.states import FAILED, RUNNING
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
    assert ask("nobody", "POST", "/ui/act", {"HX-Request": "true", **form}, "action=pause&name=a%2Fb").status == 401
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [(e.get("user"), e["via"], e["method"], e["path"], e["status"]) for e in entries] == [
        ("rita", "page", "POST", "/ui/act", 403),
        (None, "page", "POST", "/ui/act", 403),
        (None, "rest", "PUT", "/connectors/a/b/pause", 403),
        (None, "page", "POST", "/ui/act", 401),
    ]


def test_a_request_without_an_answer_may_have_been_done(herder: MemoryHerder):
    async def gone(*_of: Any) -> None:
        raise ConnectionResetError

    scope = {"type": "http", "method": "PUT", "path": "/connectors/c/pause"}
    with pytest.raises(ConnectionResetError):
        anyio.run(Audit(gone, cast(Herder, herder)), scope, cast(Any, None), cast(Any, None))
    (entry,) = herder.audit.last(9)
    assert (entry["status"], entry["message"]) == (500, "It was not answered; it may have been done.")


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


def test_an_attempt_whose_body_cannot_be_read_is_remembered(ask: Callable[..., Answer]):
    sent = {"Content-Type": "application/json"}
    for body in ("[" * 100_000, '{"connectors": [' + "9" * 5000 + "]}", '{"name": "\\ud800"}'):
        ask("anna", "POST", "/connectors", sent, body)
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [(e["user"], e["method"], e["path"], e["status"]) for e in entries] == [("anna", "POST", "/connectors", 500)] * 3


def test_strangers_displace_no_change_of_a_user_and_are_counted(
    ask: Callable[..., Answer], herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch
):
    now_s = [0.0]
    monkeypatch.setattr(period_limit, "monotonic", lambda: now_s[0])
    ask("anna", "PUT", "/connectors/a%2Fb/pause")
    elsewhere = {"Origin": "http://elsewhere.example"}
    for number in range(30):
        ask("nobody", "PUT", "/connectors/a%2Fb/resume", elsewhere if number % 2 else None)
    ask("anna", "PUT", "/connectors/a%2Fb/resume")
    now_s[0] = 61.0
    entries = ask("anna", "GET", "/headrace/audit").json["entries"]
    assert [e["user"] for e in entries if "user" in e] == ["anna", "anna"]
    strangers = [e for e in entries if "user" not in e]
    assert len(strangers) == 20 + 1
    assert strangers[-1]["message"] == "10 more requests of strangers were refused, and are not listed."
    assert len(ask("anna", "GET", "/headrace/audit").json["entries"]) == len(entries), "it is counted once"


def test_refused_requests_of_strangers_have_a_room_of_their_own():
    audit = EventLogs().audit
    audit.add(user="anna", method="PUT", status=202)
    for number in range(2 * IN_MEMORY):
        audit.add(method="PUT", status=401 if number % 2 else 403)
    kept = audit.last(IN_MEMORY)
    assert (kept[0]["user"], len(kept)) == ("anna", 1 + STRANGERS_IN_MEMORY)


def test_older_changes_are_on_further_pages(ask: Callable[..., Answer], herder: MemoryHerder):
    for number in range(7):
        herder.audit.add(user="anna", method="PUT", path=f"/{number}", status=200, address="a", via="rest", worker_id="w")
    seen, before = list[str](), ""
    while True:
        body = ask("anna", "GET", f"/headrace/audit?lines=3&before={before}").json
        seen = [e["path"] for e in body["entries"]] + seen
        if not (before := body["before"] or ""):
            break
    assert seen == [f"/{number}" for number in range(7)]


def test_a_page_ends_between_two_milliseconds():
    events = EventLog()
    for number, millis in enumerate((1, 2, 2, 2, 3)):
        events._events.add({"time": f"2026-01-01T00:00:00.00{millis}Z", "number": number})
    newest = events.page(2)
    assert ([e["number"] for e in newest.events], newest.before) == ([1, 2, 3, 4], "2026-01-01T00:00:00.002Z")
    oldest = events.page(2, newest.before)
    assert ([e["number"] for e in oldest.events], oldest.before) == ([0], None)


def test_pages_have_all_events_of_workers_whose_clocks_differ():
    events, seen, before = EventLog(), list[int](), None
    for number, millis in enumerate((1, 5, 2, 6, 3)):
        events._events.add({"time": f"2026-01-01T00:00:00.00{millis}Z", "number": number})
    for _ in range(3):
        page = events.page(2, before)
        seen, before = [e["number"] for e in page.events] + seen, page.before
    assert (seen, before) == ([0, 2, 4, 1, 3], None)


def test_the_page_leads_to_older_changes_and_states(ask: Callable[..., Answer], herder: MemoryHerder):
    for number in range(201):
        time = f"2026-01-01T00:00:00.{number:03}Z"
        entry = {
            "time": time,
            "user": "anna",
            "method": "PUT",
            "path": f"/n{number}",
            "status": 200,
            "address": "a",
            "via": "rest",
        }
        herder.audit._events.add({**entry, "worker_id": "w"})
        herder.history._events.add({"time": time, "connector": "a/b", "state": "RUNNING", "worker_id": f"worker{number}:1"})
    audit, history = ask("anna", "GET", "/ui/audit").text, ask("anna", "GET", "/ui/connector/history?name=a%2Fb").text
    assert ("/n0<" in audit, "worker0:1" in history) == (False, False)
    older = [re.findall(r'href="([^"]*before=[^"]*)">Older', text)[0].replace("&amp;", "&") for text in (audit, history)]
    assert "/n0<" in ask("anna", "GET", older[0]).text
    part = re.findall(r'data-refresh="(/ui/connector/history[^"]*)"', ask("anna", "GET", older[1]).text)[0].replace("&amp;", "&")
    assert "worker0:1" in ask("anna", "GET", part).text


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
