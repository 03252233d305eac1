"""What a user with the role read can do by requests made by hand: over every route that there is."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.rest import create_app
from headrace.rest.page.render import documentation, render
from tests.rest.conftest import Client, worker_config
from tests.rest.memory_herder import MemoryHerder
from tests.rest.own_plugins import CIPHER
from tests.rest.test_page import CONFIG, KnowingHerder, Page, Tags, as_user, server_of_users, users

__all__ = ["as_user", "server_of_users", "users"]


def _routes(*wanted: str) -> Iterator[tuple[str, str]]:
    """Method and path of every route with one of these methods, else of all that may change something; what is asked of each is
    about the connector `c`.
    """
    names = {"connector": "c", "plugin": "FileStreamSource", "topic": "letters", "application": "app", "instance": "i"}
    for route in create_app(MemoryHerder(), worker_config()).routes:  # type: ignore[arg-type]
        methods, path = getattr(route, "methods", None) or (), getattr(route, "path", "")
        filled = re.sub(r"\{(\w+)[^}]*\}", lambda found: names.get(found[1], "0"), path)
        chosen = set(methods) & set(wanted) if wanted else set(methods) - {"GET", "HEAD", "OPTIONS"}
        yield from ((method, filled) for method in sorted(chosen))


ROUTES = sorted(set(_routes()))
BODY = json.dumps({
    "name": "d", "config": CONFIG, "connector.class": "FileStreamSource", "action": "stop", "connectors": ["c"],
    "letters": ["0:1"], "level": "DEBUG", "offsets": [{"partition": {}, "offset": {}}],
})  # fmt: skip
FORM: dict[str, Any] = {
    "name": "c", "action": "delete", "task": "0", "mode": "json", "json": json.dumps(CONFIG), "topic": "letters",
    "letter": "0:1", "offsets": '[{"partition": {}, "offset": {}}]', "connector": "c", "application": "app", "command": "init",
}  # fmt: skip


@pytest.fixture
def herder() -> MemoryHerder:
    made = KnowingHerder()
    made.create("c", dict(CONFIG))
    return made


def state_of(herder: MemoryHerder) -> Any:
    kept = (herder.configs, herder.states, herder.changes, herder.restarts, herder.log_levels, herder.topics)
    return copy.deepcopy(kept)


def test_there_are_routes_of_every_kind():
    paths = {path for _, path in ROUTES}
    assert {"/connectors", "/headrace/connectors/actions", "/headrace/dead-letters/letters/replay", "/ui/act",
            "/ui/edit/apply", "/ui/streams/command", "/headrace/streams/app/i",
            "/headrace/streams/app/commands"} <= paths  # fmt: skip
    assert len(ROUTES) > 30


def test_a_reader_changes_nothing_by_any_request(as_user: Callable[[str], Page], herder: MemoryHerder):
    rita, before = as_user("rita"), state_of(herder)
    client = rita._client
    allowed = []
    for method, path in ROUTES:
        if path.startswith("/ui"):
            answer = rita.post(path, **FORM)
        else:
            body = "[]" if path.endswith("/tasks") else json.dumps(CONFIG) if path.endswith("/validate") else BODY
            answer = client(method, path, headers=rita.headers | {"Content-Type": "application/json"}, raw=body)
        if answer.status < 400:
            allowed.append(f"{method} {path}")
        assert answer.status < 500, f"{method} {path}: {answer.text}"
    assert state_of(herder) == before
    looks = {"PUT /connector-plugins/FileStreamSource/config/validate"}
    assert {request for request in allowed if "/ui/" not in request} <= looks
    assert not [
        path for path in allowed if re.search("/ui/(act|workers|edit/apply|restart|.*command|.*replay|.*apply|.*reset)", path)
    ]


SECRET = "s3cr3t-of-somebody"
SECRETS = {
    "producer.override.sasl.jaas.config": f'x required username="u" password="{SECRET}";',
    "value.converter.basic.auth.user.info": f"u:{SECRET}", "transforms.http.api.key": SECRET,
    "transforms.enc.cipher.data_keys": SECRET,
    "connection.url": f"jdbc:postgresql://u:{SECRET}@there/db?user=u&password={SECRET}&ssl=true",
}  # fmt: skip


def test_only_an_admin_sees_secrets_whatever_is_asked_for(as_user: Callable[[str], Page], herder: MemoryHerder):
    herder.configs["c"] = {**CONFIG, "transforms": "enc", "transforms.enc.type": CIPHER, **SECRETS}
    looks = [path for _, path in _routes("GET")] + ["/connectors?expand=info&expand=status", "/ui/edit?name=c&mode=json"]
    looks += [f"{path}?name=c" for path in looks if path.startswith("/ui")] + ["/ui/connector?name=c&tab=configuration"]
    for user in ("rita", "olaf"):
        page = as_user(user)
        found = [path for path in looks if SECRET in page._client("GET", path, headers=page.headers).text]
        assert not found, f"{user} sees it at {found}"
        shown = page._client("GET", "/connectors/c/config", headers=page.headers).json
        assert shown["connection.url"] == "jdbc:postgresql://[hidden]@there/db?user=u&password=[hidden]&ssl=true"
        assert [shown[key] for key in SECRETS if key != "connection.url"] == ["[hidden]"] * 4
        assert {key: value for key, value in shown.items() if key not in SECRETS} == {
            k: v for k, v in herder.configs["c"].items() if k not in SECRETS
        }
    anna = as_user("anna")
    for path in ("/connectors/c", "/connectors/c/config", "/connectors/c/tasks", "/connectors?expand=info"):
        assert anna._client("GET", path, headers=anna.headers).text.count(SECRET) == 6


def test_users_of_different_roles_at_the_same_time_do_only_what_each_may(as_user: Callable[[str], Page], herder: MemoryHerder):
    for n in range(12):
        herder.create(f"c{n}", {**CONFIG, "name": f"c{n}"})
    users = {name: as_user("anna" if name == "anna" else name) for name in ("rita", "olaf", "anna")}

    def act(turn: tuple[int, str]) -> tuple[str, int, str]:
        n, name = turn
        shown = users[name].get("/ui").text
        return name, users[name].post("/ui/act", action="pause", name=f"c{n}").status, shown

    turns = [(n, ("rita", "olaf", "anna")[n % 3]) for n in range(12)]
    with ThreadPoolExecutor(6) as threads:
        for name, status, shown in threads.map(act, turns):
            assert (status == 200) == (name != "rita")
            assert f"{name} · " in shown and not [other for other in users if other != name and f"{other} · " in shown]
    paused = {name for name, state in herder.states.items() if state == "PAUSED"}
    assert paused == {f"c{n}" for n, name in turns if name != "rita"}


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_html_in_what_the_newer_screens_show_stays_text(shared: tuple[Any, Client], text: str):
    bad = f"<script>{text}</script><img src=x onerror=1>`<b>`"
    event = {"time": "2026-01-01T00:00:00Z", "task": 0, "state": bad, "worker_id": bad, "cause": f"{bad}\nCaused by: a.B: {bad}"}
    worker = {"worker_id": bad, "state": "answers", "connectors": 1, "tasks": 1, "failed": 1, "facts": {
        "leader": True, "slots": 1, "slot_count": 1, "data_plane": None, "memory_bytes": 1, "jvm": None, "version": bad,
        "python": bad, "started_ms": 1}}  # fmt: skip
    parts = [
        render("connector_history.html", found={"durable": True, "entries": [event], "before": text}, name=text, before=text),
        render("workers_rows.html", found={"problem": bad, "workers": [worker]}),
        render(
            "connector_topics.html",
            sentence="",
            ruled=True,
            found={
                "drift": [dict.fromkeys(("topic", "group", "what", "wanted", "actual"), bad)],
                "topics": [{"topic": bad, "group": bad, "partitions": 1, "replication_factor": 1, "settings": {bad: bad}}],
            },
        ),
        render(
            "dead_letters_topics.html",
            topics=[{"topic": bad, "cluster": bad, "connectors": [bad], "records": None, "problem": bad}],
            in_several={bad},
        ),
    ]
    herder = shared[0].current = KnowingHerder()
    chain = {
        "transforms": "m",
        "transforms.m.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.m.fields": bad,
    }
    herder.create("c", CONFIG | chain)
    herder.topics["c"] = {bad}
    parts.append(Page(shared[1]).get("/ui/graph?connector=c").text)
    assert "derived from" in parts[-1].lower()
    for html in parts:
        tags = Tags(html).tags
        assert not [tag for tag, attributes in tags if tag == "script" and "src" not in attributes]
        assert not [1 for tag, attributes in tags if tag == "img" and attributes.get("src") == "x"]
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_html_in_dialogs_previews_and_logs_stays_text(shared: tuple[Any, Client], text: str):
    text = text.replace("\n", " ")  # which no path of a request may have
    bad = f"<script>{text}</script><img src=x onerror=1>`<b>`"
    herder = shared[0].current = KnowingHerder()
    herder.create(bad, {**CONFIG, "name": bad, "topic": bad})
    herder.states[bad] = "STOPPED"
    herder.changes[bad] = [({bad: bad}, {bad: 1})]
    page = Page(shared[1])
    shown = page.get(f"/ui/edit?{urlencode({'name': bad})}").text
    base = re.findall(r'name="base" value="(\w*)"', shown)[0]
    edited = json.dumps({"connector.class": "FileStreamSource", "topic": f"{bad}2", bad: bad})
    offsets = json.dumps([{"partition": {bad: bad}, "offset": {bad: 2}}])
    entry = {"time": "2026-01-01T00:00:00Z", "level": bad, "task": 0, "event": bad, "details": {bad: bad}}
    step = {"step": bad, "type": bad, "applied": False, "predicate": {"alias": bad}, "record": {bad: bad}, "dropped": False}
    destination = {
        "topic": bad, "note": bad, "exists": False, "partitions": None,
        "create": {"group": bad, "partitions": 1, "replication.factor": 1, "configs": {bad: bad}},
    }  # fmt: skip
    record = {"input": {bad: bad}, "steps": [step], "outcome": "failed", "destination": destination, "dropped_by": bad,
              "failure": {bad: bad}, "output": {bad: bad}}  # fmt: skip
    answers = [
        page.post("/ui/confirm", action="resume", name=bad),
        page.post("/ui/confirm", action="delete", name=[bad, f"{bad}gone"]),
        page.post("/ui/edit/review", name=bad, mode="json", json=edited, base=base),
        page.post("/ui/edit/validate", name=bad, mode="json", json=json.dumps({bad: bad})),
        page.post("/ui/connector/offsets/review", name=bad, offsets=offsets),
        page.post("/ui/connector/offsets/confirm-reset", name=bad),
    ]
    assert [answer.status for answer in answers] == [200] * len(answers)
    parts = [
        *(answer.text for answer in answers),
        render("connector_log_entries.html", level=bad, found={"not_reached": [bad], "entries": [entry]}),
        render("connector_log_entries.html", level=bad, found={"not_reached": [], "entries": []}),
        render(
            "edit_preview.html", sentence="", found={"records": [record, {**record, "outcome": "dropped", "destination": None}]}
        ),
        render("edit_preview.html", sentence=bad, found={"records": []}),
    ]
    for html in parts:
        tags = Tags(html).tags
        assert not [tag for tag, _ in tags if tag in ("script", "img")]
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_an_options_documentation_has_no_tags_but_code(text: str):
    assert {tag for tag, _ in Tags(documentation(f"`{text}` <code>{text}</code> <img src=x onerror=1>")).tags} <= {"code", "br"}
    assert all(not attributes for _, attributes in Tags(documentation(f"<code>{text}</code>`{text}")).tags)
