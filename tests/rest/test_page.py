"""The operator's page over HTTP: who may see and change what, what it lets a browser do, and that texts stay texts."""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import plugins
from headrace.cluster.herder import Herder
from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.standalone.stores import memory_stores
from headrace.config.secrets import HIDDEN
from headrace.connect_config import validation
from headrace.converters.avro import AvroConverter
from headrace.dead_letters.letter import Letter
from headrace.dead_letters.reasons import reasons
from headrace.preview.records import RawRecord
from headrace.rest import RestServer, create_app, passwords
from headrace.rest.lineage import Lineage, LineageEdge, LineageNode
from headrace.rest.page.graph import urgent
from headrace.rest.page.overview import MOST_CHOSEN
from headrace.rest.page.render import line, number, render, span
from headrace.runtime.schema_usage import USAGE
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from headrace.values.schema import Schema
from tests.rest.conftest import Answer, Client, worker_config
from tests.rest.memory_herder import CurrentHerder, MemoryHerder

SECRET = "s3cret-9fd1"
CONFIG: dict[str, str | None] = {
    "name": "c", "connector.class": "FileStreamSource", "file": "/x", "topic": "t", "producer.override.sasl.jaas.config": SECRET,
    "producer.override.ssl.key.password": "${file:/run/secrets:key}",
}  # fmt: skip
SCREENS = (
    "/ui", "/ui?q=c&state=RUNNING&sort=-lag", "/ui/rows", "/ui/connector?name=c", "/ui/connector?name=c&tab=configuration",
    "/ui/connector?name=c&tab=offsets", "/ui/connector?name=c&tab=log", "/ui/connector/live?name=c", "/ui/connector/head?name=c",
    "/ui/connector/charts?name=c",
    "/ui/connector/lag?name=c", "/ui/connector/topics?name=c", "/ui/connector/log/entries?name=c", "/ui/audit",
    "/ui/graph", "/ui/connector/history?name=c",
    "/ui/connector/log?name=c", "/ui/connector/offsets?name=c", "/ui/edit?name=c", "/ui/new",
    "/ui/new?plugin=FileStreamSource", "/ui/dead-letters", "/ui/dead-letters/topics",
    "/ui/dead-letters?topic=letters&connector=c", "/ui/dead-letters/page?topic=letters", "/ui/workers", "/ui/workers/rows",
    "/ui/workers/log-levels",
    "/ui/streams",
    "/ui/streams?application=app", "/ui/streams/rows", "/ui/streams/application?application=app",
)  # fmt: skip


STREAMS: dict[str, Any] = {
    "version": "1", "state": "RUNNING", "active": True, "paused": False, "error": None, "setup": "manual",
    "topology": "Topologies:\n   Sub-topology: 0\n    Source: KSTREAM-SOURCE-0000000000 (topics: [orders])\n",
    "internal_topics": [{"name": "t", "kind": "changelog", "partitions": 1, "replication_factor": 1, "state": "ok"}],
    "problem": None, "metrics": {"sub-topology-0": {"lag": 3.0, "records": 5.0}},
}  # fmt: skip


class KnowingHerder(MemoryHerder):
    """Knows the options of plugins, as the real one does."""

    def plugin_config(self, plugin: type[Any]) -> list[dict[str, Any]]:
        return validation.plugin_definitions(plugin)

    def validate(self, plugin: str, config: dict[str, str | None], *, look_up: bool) -> dict[str, Any]:
        return validation.validate(plugin, config, worker_config(), look_up=look_up)


class Page:
    """A browser's requests to the page, as one user."""

    def __init__(self, client: Client, user: str | None = None) -> None:
        self._client = client
        encoded = base64.b64encode(f"{user}:{user[::-1]}".encode()).decode() if user else ""
        self.headers = {"Authorization": f"Basic {encoded}"} if user else {}
        self.origin = {"HX-Request": "true", "Origin": f"http://{client.address}", "Host": client.address}

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self._client("GET", path, headers={**self.headers, "Accept": "text/html", **(headers or {})})

    def post(self, path: str, headers: dict[str, str] | None = None, **form: Any) -> Answer:
        proof = self.origin if headers is None else headers
        sent = self.headers | proof | {"Content-Type": "application/x-www-form-urlencoded"}
        return self._client("POST", path, headers=sent, raw=urlencode(form, doseq=True))


@pytest.fixture
def herder() -> MemoryHerder:
    made = KnowingHerder()
    made.create("c", dict(CONFIG))
    return made


@pytest.fixture
def page(call: Client) -> Page:
    call("PUT", "/headrace/streams/app/i", STREAMS)
    return Page(call)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings with a user of each role: rita may read, olaf operate, anna do everything."""
    roles = {"rita": "read", "olaf": "operate", "anna": "admin"}
    file = tmp_path_factory.mktemp("users") / "users"
    file.write_text("".join(f"{name}={role}:{passwords.hashed(name[::-1])}\n" for name, role in roles.items()))
    return {"rest.authentication": "basic", "rest.authentication.users.file": str(file)}


@pytest.fixture(scope="module")
def server_of_users(users: dict[str, str]) -> Iterator[tuple[CurrentHerder, Client]]:
    """One server for all tests with users: to read the file costs as much as to guess a password."""
    current = CurrentHerder()
    current.current = KnowingHerder()
    server = RestServer(cast(Herder, current), worker_config(users))
    server.start()
    yield current, Client(server.urls[0])
    server.stop()


@pytest.fixture
def as_user(server_of_users: tuple[CurrentHerder, Client], herder: MemoryHerder) -> Callable[[str], Page]:
    """The page of a worker, for one of the users."""
    current, client = server_of_users
    current.current = herder
    headers = Page(client, "olaf").headers | {"Content-Type": "application/json"}
    assert client("PUT", "/headrace/streams/app/i", headers=headers, raw=json.dumps(STREAMS)).status == 204
    return lambda user: Page(client, user)


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


# ------------------------------------------------------------------------------------------------- what a browser is let do
@pytest.mark.parametrize("path", SCREENS)
def test_no_screen_has_inline_scripts_or_styles_or_asks_elsewhere(page: Page, path: str):
    answer = page.get(path)
    assert answer.status == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"
    for tag, attributes in Tags(answer.text).tags:
        assert tag != "style" and not (tag == "script" and "src" not in attributes)
        assert not [name for name in attributes if name == "style" or name.startswith(("on", "hx-on"))]
        addresses = [attributes.get(name) or "" for name in ("src", "href", "action", "hx-get", "hx-post")]
        assert not [address for address in addresses if address and not address.startswith(("/ui", "#"))]


def test_a_plugin_without_a_version_can_be_chosen_and_shown(page: Page, herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plugins.find("FileStreamSource", "source"), "version", plugins.NO_VERSION)
    answer = page.get("/ui/new")
    assert answer.status == 200
    assert "FileStreamSource" in answer.text
    herder.class_version = {}
    assert page.get("/ui/connector/head?name=c").status == page.get("/ui/connector?name=c").status == 200


def test_scripts_and_styles_are_kept_by_the_browser_and_change_their_address(page: Page):
    addresses = re.findall(r'/ui/static/[^"]+', page.get("/ui").text)
    assert {address.partition("?")[0].rpartition("/")[2] for address in addresses} >= {"htmx.min.js", "app.js", "app.css"}
    for address in addresses:
        answer = page.get(address)
        assert (answer.status, "immutable" in answer.headers["cache-control"]) == (200, True)
    assert page.get("/ui/static/..%2Frender.py").status == 404


@pytest.mark.parametrize(
    "proof",
    [
        {}, {"HX-Request": "true"}, {"Origin": "http://evil.example", "HX-Request": "true"}, {"Origin": "own"},
        {"Origin": "own", "HX-Request": "true", "Sec-Fetch-Site": "cross-site"}, {"Origin": "null", "HX-Request": "true"},
    ],
)  # fmt: skip
def test_a_change_without_the_pages_own_proof_is_refused(page: Page, herder: MemoryHerder, proof: dict[str, str]):
    own = {"own": page.origin["Origin"]}
    answer = page.post("/ui/act", {name: own.get(value, value) for name, value in proof.items()}, action="pause", name="c")
    assert (answer.status, herder.states) == (403, {"c": "RUNNING"})


def test_another_sites_page_may_not_use_the_rest_api_either(call: Client, herder: MemoryHerder):
    assert call("PUT", "/connectors/c/pause", headers={"Origin": "http://evil.example"}).status == 403
    assert call("PUT", "/connectors/c/pause", headers={"Origin": f"http://{call.address}", "Host": call.address}).status == 202
    assert call("PUT", "/connectors/c/resume").status == 202


def test_an_origin_that_is_allowed_may(serve: Callable[..., Client]):
    client = serve({"access.control.allow.origin": "https://console.example", "access.control.allow.methods": "PUT"})
    assert client("PUT", "/connectors/c/pause", headers={"Origin": "https://console.example"}).status == 202


def test_a_browser_is_led_from_the_root_and_clients_are_not(call: Client):
    for accept in ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"):
        led = call("GET", "/", headers={"Accept": accept})
        assert (led.status, led.headers["location"]) == (303, "/ui")
    assert call("GET", "/connectors", headers={"Accept": "text/html"}).status == 406
    assert call("GET", "/", headers={"Accept": "*/*"}).json["version"]


def test_the_page_can_be_switched_off(serve: Callable[..., Client]):
    client = serve({"rest.page.enable": "false"})
    assert client("GET", "/ui").status == 404
    assert client("GET", "/", headers={"Accept": "text/html,*/*"}).status == 200
    assert client("GET", "/", headers={"Accept": "text/html"}).status == 406
    assert client("PUT", "/connectors/c/pause", headers={"Origin": "http://evil.example"}).status == 202


def test_the_admin_listener_has_no_page(herder: MemoryHerder):
    config = worker_config({"admin.listeners": "http://localhost:0"})
    server = RestServer(herder, config)  # type: ignore[arg-type]
    server.start()
    try:
        assert Client(server.admin_urls[0])("GET", "/ui").status == 404
        main = Client(server.urls[0])
        assert main("GET", "/ui").status == 200
        assert "They are at http://localhost:0 alone (admin.listeners)." in main("GET", "/ui/workers/log-levels").text
    finally:
        server.stop()


# ------------------------------------------------------------------------------------------------- who may do what
def test_a_stranger_is_asked_for_a_password(as_user: Callable[[str], Page]):
    stranger = as_user("nobody")
    for answer in (stranger.get("/ui"), stranger.get("/ui/static/app.js"), stranger.post("/ui/act", action="pause", name="c")):
        assert (answer.status, answer.headers["www-authenticate"][:5]) == (401, "Basic")


@pytest.mark.parametrize("path", SCREENS)
def test_a_reader_sees_no_secret_on_any_screen(as_user: Callable[[str], Page], path: str):
    answer = as_user("rita").get(path)
    assert answer.status == 200
    assert SECRET not in answer.text


def test_hidden_is_what_a_secret_is_and_a_placeholder_is_shown(page: Page):
    shown = page.get("/ui/connector?name=c&tab=configuration").text
    assert HIDDEN in shown and "${file:/run/secrets:key}" in shown


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/ui/act", {"action": "pause", "name": "c"}),
        ("/ui/act", {"action": "delete", "name": "c"}),
        ("/ui/restart-task", {"name": "c", "task": "0"}),
        ("/ui/connector/offsets/apply", {"name": "c", "offsets": '[{"partition": {}, "offset": {}}]'}),
        ("/ui/connector/offsets/reset", {"name": "c"}),
        ("/ui/edit/apply", {"name": "c", "mode": "json", "json": '{"connector.class": "FileStreamSource"}'}),
        ("/ui/edit/validate", {"name": "c", "mode": "json", "json": "{}"}),
        ("/ui/edit/preview", {"name": "c", "mode": "json", "json": "{}"}),
        ("/ui/dead-letters/replay", {"topic": "letters", "letter": "0:1"}),
        ("/ui/dead-letters/confirm", {"topic": "letters", "letter": "0:1"}),
        ("/ui/dead-letters/preview", {"topic": "letters", "letter": "0:1", "connector": "c", "json": "{}"}),
    ],
)
def test_a_reader_can_change_nothing_and_try_nothing_out(
    as_user: Callable[[str], Page], herder: MemoryHerder, path: str, form: Any
):
    answer = as_user("rita").post(path, **form)
    assert answer.status >= 400
    assert (herder.states, herder.configs["c"], herder.changes, herder.restarts) == ({"c": "RUNNING"}, CONFIG, {}, [])


def test_what_a_user_may_not_do_is_not_offered(as_user: Callable[[str], Page]):
    offered = {
        user: as_user(user).get("/ui").text + as_user(user).get("/ui/connector?name=c").text for user in ("rita", "olaf", "anna")
    }
    marks = ('value="pause"', "New connector", 'value="delete"', ">Audit<")
    assert {user: [mark in text for mark in marks] for user, text in offered.items()} == {
        "rita": [False, False, False, False], "olaf": [True, False, False, False], "anna": [True, True, True, True],
    }  # fmt: skip


def test_a_preview_of_dead_letters_is_offered_to_admins_alone(as_user: Callable[[str], Page]):
    path = "/ui/dead-letters?topic=letters&connector=c"
    offered = {user: "/ui/dead-letters/preview" in as_user(user).get(path).text for user in ("rita", "olaf", "anna")}
    assert offered == {"rita": False, "olaf": False, "anna": True}


def test_users_of_different_roles_work_side_by_side(as_user: Callable[[str], Page], herder: MemoryHerder):
    olaf, rita, anna = as_user("olaf"), as_user("rita"), as_user("anna")
    assert olaf.post("/ui/act", action="pause", name="c").status == 200
    assert rita.post("/ui/act", action="resume", name="c").status == 403
    assert herder.states == {"c": "PAUSED"}
    assert olaf.post("/ui/act", action="delete", name="c").status == 403
    assert "rita · read" in rita.get("/ui").text and "anna · admin" in anna.get("/ui").text


def test_a_websocket_is_refused_by_the_authentication(herder: MemoryHerder, tmp_path: Path):
    (tmp_path / "users").write_text(f"anna=admin:{passwords.hashed('x')}\n")
    app = create_app(herder, worker_config({  # type: ignore[arg-type]
        "rest.authentication": "basic", "rest.authentication.users.file": str(tmp_path / "users"),
    }))  # fmt: skip

    @app.websocket("/open")
    async def reached(_socket: Any) -> None:
        raise AssertionError("reached without a password")

    sent: list[Any] = []

    async def ask() -> None:
        async def receive() -> dict[str, str]:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "websocket",
            "path": "/open",
            "raw_path": b"/open",
            "headers": [],
            "query_string": b"",
            "subprotocols": [],
        }
        await app(scope, receive, send)

    anyio.run(ask)
    assert [message["type"] for message in sent] == ["websocket.close"]


# ------------------------------------------------------------------------------------------------- editing
def draft(config: dict[str, Any], **more: str) -> Any:
    return {"name": "c", "mode": "json", "json": json.dumps(config), **more}


def base_of(page: Page) -> str:
    """What the form remembers of the configuration that it was opened with."""
    return re.findall(r'name="base" value="(\w*)"', page.get("/ui/edit?name=c").text)[0]


def test_a_form_keeps_the_settings_that_are_empty_on_purpose_and_no_others(page: Page, herder: MemoryHerder):
    herder.configs["c"] = {**CONFIG, "transforms.r.replacement": "", "topic": "t"}
    shown = page.post("/ui/edit/form", **draft(herder.configs["c"]), to="form").text
    keys = re.findall(r'name="key" value="([^"]*)"', shown)
    rows = {"key": keys, "value": [{**herder.configs["c"], "topic": ""}.get(key) or "" for key in keys]}
    json_text = page.post("/ui/edit/form", name="c", mode="form", to="json", **rows).text
    edited = json.loads(unescape(re.findall(r"<textarea[^>]*>(.*?)</textarea>", json_text, re.S)[0]))
    assert edited == {k: v for k, v in herder.configs["c"].items() if k not in ("name", "topic")}


@pytest.mark.parametrize("live", ["0", "101", "-1", "many", "", "٣"])
def test_a_preview_of_no_number_of_records_is_refused(page: Page, live: str):
    answer = page.post("/ui/edit/preview", **draft(dict(CONFIG)), live=live)
    assert f"Preview takes 1 to 100 records, not '{live}'." in unescape(answer.text)


def test_an_edit_keeps_the_secrets_that_the_browser_never_had(page: Page, herder: MemoryHerder):
    edited = {**CONFIG, "topic": "u", "producer.override.sasl.jaas.config": HIDDEN}
    reviewed = page.post("/ui/edit/review", **draft(edited, base=base_of(page))).text
    assert SECRET not in reviewed
    assert re.findall(r'scope="row">([^<]*)</th><td><del>([^<]*)</del></td><td><ins>([^<]*)</ins>', reviewed) == [
        ("topic", "t", "u")
    ]
    answer = page.post("/ui/edit/apply", **draft(edited, base=base_of(page)))
    assert (answer.status, answer.headers["hx-redirect"]) == (200, "/ui/connector?name=c")
    assert herder.configs["c"] == {**CONFIG, "topic": "u"}


def test_an_edit_of_what_somebody_else_has_changed_is_refused(page: Page, herder: MemoryHerder):
    edited = {**CONFIG, "topic": "u", "producer.override.sasl.jaas.config": HIDDEN}
    base = base_of(page)
    herder.put_config("c", {**CONFIG, "topic": "other"})
    answer = page.post("/ui/edit/apply", **draft(edited, base=base))
    assert (answer.status, "has been changed since" in answer.text, herder.configs["c"]["topic"]) == (409, True, "other")


def test_every_error_is_at_its_field(page: Page):
    form = {
        "mode": "form",
        "name": "c",
        "key": ["connector.class", "topic", "tasks.max", ""],
        "value": ["FileStreamSource", "", "no", ""],
    }
    answer = page.post("/ui/edit/validate", **form).text
    slots = dict(re.findall(r'<div id="e-(\d)" class="error" hx-swap-oob="true">([^<]*)</div>', answer))
    assert slots["0"] == "" and "Missing required" in slots["1"] and "Invalid value no" in slots["2"]


def test_a_hidden_value_that_nothing_stands_behind_is_refused(page: Page):
    answer = page.post("/ui/edit/validate", **draft({"connector.class": "FileStreamSource", "password": HIDDEN}))
    assert (answer.status, "write it" in answer.text) == (400, True)


# ------------------------------------------------------------------------------------------------- texts stay texts
@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_names_and_values_with_html_in_them_are_shown_as_text(shared: tuple[Any, Client], text: str):
    name, herder = f"n{text}", KnowingHerder()
    herder.create(name, {**CONFIG, "name": name, "topic": f'<script>alert("{text}")</script>'})
    herder.topics[name] = {f"<img src=x onerror=1>{text}"}
    shared[0].current = herder
    page = Page(shared[1])
    for path in ("/ui", f"/ui/connector?name={quote(name)}", f"/ui/connector?name={quote(name)}&tab=configuration",
                 f"/ui/edit?name={quote(name)}"):  # fmt: skip
        tags = Tags(page.get(path).text).tags
        assert not [tag for tag, attributes in tags if tag == "script" and "src" not in attributes]
        assert not [attributes for tag, attributes in tags if tag == "img" and attributes.get("src") == "x"]
        allowed = {"a", "img", "input"} | {tag for tag, _ in tags if tag.isalnum()}
        assert {tag for tag, _ in tags} <= allowed
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_records_with_html_in_them_are_shown_as_text(text: str):
    hostile = f"<script>{text}</script><img src=x onerror=1>"
    context = {"topic": hostile, "exception.message": hostile, "exception.stacktrace": hostile, "connector.name": hostile}
    headers = [(hostile, hostile.encode()), *((f"__connect.errors.{name}", told.encode()) for name, told in context.items())]
    letter = Letter.of(RawRecord("letters", 0, 0, 0, hostile.encode(), hostile.encode(), headers))
    page = {
        "letters": [letter.json()],
        "reasons": reasons([letter]),
        "connectors": [hostile, "b"],
        "records": 1,
        "counted": 1,
        "counted_all": True,
        "before": hostile,
    }
    html = render("dead_letters_page.html", topic=hostile, page=page, sentence="", connector="", before=hostile)
    tags = Tags(html).tags
    assert not [tag for tag, _ in tags if tag in ("script", "img")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>&\"'`/={}%;ab \n\u2028"), min_size=1, max_size=40))
def test_what_applications_report_is_shown_as_text(shared: tuple[Any, Client], text: str):
    shared[0].current = KnowingHerder()
    hostile = f"<script>{text}</script><img src=x onerror=1>"
    topic = {**STREAMS["internal_topics"][0], "name": hostile, "kind": hostile, "problems": [hostile]}
    more = {
        "error": hostile,
        "topology": hostile,
        "internal_topics": [topic],
        "metrics": {hostile: {"lag": 1.0}},
        "version": hostile,
    }
    name = quote(hostile.replace("\n", " "), safe="")  # a path with control characters is refused
    assert shared[1]("PUT", f"/headrace/streams/{name}/{name}", STREAMS | more).status == 204
    for path in ("/ui/streams/rows", f"/ui/streams/application?application={name}", f"/ui/streams?application={name}"):
        tags = Tags(Page(shared[1]).get(path).text).tags
        assert not [tag for tag, attributes in tags if tag == "script" and "src" not in attributes]
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


def test_who_may_operate_has_an_application_verify_its_topics_and_a_reader_is_offered_nothing(as_user: Callable[[str], Page]):
    rita, olaf = as_user("rita"), as_user("olaf")
    shown = "/ui/streams/application?application=app"
    assert "Initialize …" in olaf.get(shown).text and "Verify" not in rita.get(shown).text
    dialog = olaf.post("/ui/streams/confirm", application="app")
    assert "there is nothing to create" in dialog.text and 'value="init"' not in dialog.text  # and none of its instances waits
    assert rita.post("/ui/streams/command", application="app", command="verify").status == 403
    assert olaf.post("/ui/streams/command", application="app", command="drop").status == 400
    assert "is asked with its next report" in olaf.post("/ui/streams/command", application="app", command="dry-run").text
    asked = rita.get(shown).text
    assert "init, dry run" in asked and "by olaf" in asked


def test_the_graph_shows_the_schemas_of_a_connectors_topics(page: Page, herder: MemoryHerder):
    herder.create("avro", {"connector.class": "FileStreamSource", "file": "/x", "topic": "orders"})
    herder.topics["avro"] = {"orders"}
    converter = AvroConverter({"schema.registry.url": "http://localhost:1"}, is_key=False)
    schema = Schema("struct", fields={"total": Schema("float64")})
    converter.uses.add("written", "value", 7, "AVRO", ("orders-value", 3), schema)
    USAGE.watch("avro", 0, [converter])
    shown = page.get("/ui/graph?connector=avro").text
    assert "orders-value" in shown
    assert "<code>total</code>" in shown
    assert "orders-value" not in page.get("/ui/graph?connector=c").text


def test_an_admin_sets_a_log_level_and_others_are_not_offered_it(serve: Callable[..., Client], users: dict[str, str]):
    client = serve(users)
    logger, anna, path = "headrace.rest.only_here", Page(client, "anna"), "/ui/workers/log-levels"
    done = anna.post(path, logger=logger, level="DEBUG", scope="worker")
    assert done.status == 200 and f"{logger} logs from DEBUG on" in done.text
    shown = anna.get(path).text
    assert logger in shown and "<form" in shown
    assert logging.getLogger(logger).level == logging.DEBUG
    assert anna.post(path, logger=logger, level="LOUD").status == 404
    for other in (Page(client, "rita"), Page(client, "olaf")):
        assert "<form" not in other.get(path).text
        assert other.post(path, logger=logger, level="ERROR").status == 403
    assert logging.getLogger(logger).level == logging.DEBUG


def test_what_has_no_topics_is_named_beside_the_graph(page: Page, herder: MemoryHerder):
    herder.create("lonely", {"name": "lonely", "connector.class": "FileStreamSource"})
    herder.topics["c"] = {"t"}
    graph = page.get("/ui/graph").text
    drawn, _, beside = graph.partition("Without topics so far")
    assert "Topic tracking is disabled" not in drawn
    assert "connector c," in drawn and "lonely" not in drawn and ">lonely<" in beside
    assert "connector lonely," in page.get("/ui/graph?connector=lonely").text


def test_where_topics_are_not_tracked_it_is_not_said_that_there_are_none(serve: Callable[..., Client], herder: MemoryHerder):
    herder.create("untracked", {**CONFIG, "name": "untracked"})
    page, sentence = Page(serve({"topic.tracking.enable": "false"})), "Topic tracking is disabled"
    live = page.get("/ui/connector/live?name=untracked").text
    assert sentence in live and "None since" not in live
    assert sentence in page.get("/ui/graph").text


def test_any_name_has_an_address(page: Page, herder: MemoryHerder):
    for name in ("..", "a/b", "50% größe", "?x=1&y#z"):
        herder.create(name, {**CONFIG, "name": name})
        assert page.get(f"/ui/connector?name={quote(name, safe='')}").status == 200
    assert page.get("/ui/connector?name=none").status == 404


# ------------------------------------------------------------------------------------------------- many connectors
@pytest.fixture
def thousand(tmp_path: Path) -> Iterator[Client]:
    """A real herder with a thousand connectors, each tenth failed; nothing of them runs."""
    config = StandaloneConfig({**worker_config().originals, "offset.storage.file.filename": str(tmp_path / "offsets")})
    stores, alone = memory_stores(config.offset_file), StandaloneGroup()
    herder = Herder(Worker(config, stores.offsets, stores.status, lambda: None, alone.session), stores, "w:1", "k", alone)  # type: ignore[arg-type, return-value]
    stores.start()
    alone.start(lambda _share: None, lambda: None)
    for n in range(1000):
        stores.config.put_connector(f"c{n:04}", {**CONFIG, "name": f"c{n:04}"})
        state = {"state": "FAILED" if n % 10 == 0 else "RUNNING", "trace": "x.Y: It broke." if n % 10 == 0 else None,
                 "worker_id": "w:1", "generation": 1, "version": "1"}  # fmt: skip
        stores.status.put_connector_status(f"c{n:04}", state)
    server = RestServer(herder, config)
    server.start()
    yield Client(server.urls[0])
    server.stop()
    stores.stop()


def cpu_s(action: Callable[[], object]) -> float:
    """What server and client spend on it, the least of three times: other threads of this process count as well."""

    def spent() -> float:
        begun = time.process_time()
        action()
        return time.process_time() - begun

    return min(spent() for _ in range(3))


def test_a_thousand_connectors_are_there_in_a_second_and_ten_idle_pages_cost_little(thousand: Client):
    page = Page(thousand)
    assert cpu_s(lambda: page.get("/ui")) < 1
    text = page.get("/ui").text
    assert "<b>100</b> failed" in text and "Page 1 of 20" in text and text.count("It broke.") >= 50
    stamp = {"X-Seen": re.findall(r'data-seen="(\w+)"', text)[0]}

    def ask() -> None:  # what ten pages that are renewed every two seconds ask in a second
        for _ in range(5):
            assert thousand("GET", "/ui/rows?page=1", headers=stamp).status == 204

    assert cpu_s(ask) < 0.05 * 4  # of one second: under 5 % of a core, with room for a slow machine


def test_a_part_that_is_asked_for_again_is_rendered_only_if_something_in_it_has_changed(
    page: Page, herder: MemoryHerder, monkeypatch: pytest.MonkeyPatch
):
    herder.create("once", dict(CONFIG))
    rendered: list[str] = []
    monkeypatch.setattr("headrace.rest.page.call.render", lambda part, **values: rendered.append(part) or render(part, **values))
    texts = [page.get("/ui/connector/head?name=once").text for _ in range(3)]
    assert (len(set(texts)), len(rendered)) == (1, 1)
    herder.pause("once")
    assert page.get("/ui/connector/head?name=once").text != texts[0]


def test_with_a_thousand_connectors_no_screen_takes_a_second(thousand: Client):
    page = Page(thousand)
    assert thousand("PUT", "/headrace/streams/app/i", STREAMS).status == 204
    screens = (screen.replace("name=c", "name=c0500").replace("connector=c", "connector=c0500") for screen in SCREENS)
    paths = [*screens, "/ui/graph?connector=c0500"]
    assert {path: status for path in paths if (status := page.get(path).status) != 200} == {}
    slow = {path: cpu_s(lambda path=path: page.get(path)) for path in paths}
    assert thousand("GET", "/headrace/lineage?columns=true").status == 200
    slow["/headrace/lineage"] = cpu_s(lambda: thousand("GET", "/headrace/lineage?columns=true"))
    assert {path: round(taken, 2) for path, taken in slow.items() if taken >= 1} == {}


def test_all_that_match_can_be_chosen_at_once(thousand: Client):
    page = Page(thousand)
    assert "Select all 100 that match" in page.get("/ui?state=FAILED").text
    assert page.get("/ui/matching?state=FAILED").json[:2] == ["c0000", "c0010"]
    assert len(page.get("/ui/matching").json) == MOST_CHOSEN == 1000
    names = page.get("/ui/matching").json
    confirmed = page.post("/ui/confirm", action="pause", name=names)
    assert (confirmed.status, confirmed.text.count('name="name"')) == (200, 1000)


def test_the_address_has_the_filter_the_order_and_the_number_of_the_page(thousand: Client):
    page, path = Page(thousand), "/ui?state=FAILED&sort=-name&page=2"
    second = page.get(path).text
    assert "Page 2 of 2 · 100 connectors" in second and re.findall(r"name=(c\d{4})", second)[0] == "c0490"
    (previous,) = re.findall(r'href="([^"]+)">Previous</a>', second)
    first = page.get(unescape(previous)).text
    assert "Page 1 of 2" in first and re.findall(r"name=(c\d{4})", first)[0] == "c0990"
    assert unescape(re.findall(r'href="([^"]+)">Next</a>', first)[0]) == path


def test_a_graph_too_large_for_a_picture_shows_what_failed_and_what_is_named_with_its_neighbours():
    nodes, edges = list[LineageNode](), list[LineageEdge]()
    for n in range(300):
        state = "FAILED" if n in (7, 9) else "RUNNING"
        nodes += [LineageNode(f"connector:c{n}", "connector", f"c{n}", state=state), LineageNode(f"topic:t{n}", "topic", f"t{n}")]
        edges += [LineageEdge(f"connector:c{n}", f"topic:t{n}"), LineageEdge("topic:all", f"connector:c{n}")]
    whole = Lineage([*nodes, LineageNode("topic:all", "topic", "all")], edges)
    shown = urgent(whole, ["c1"])
    assert {node.name for node in shown.nodes} == {"c1", "t1", "c7", "t7", "c9", "t9", "all"}
    assert len(shown.edges) == 6
    application = LineageNode("application:x/0", "application", "x", "sub-topology 0", "ERROR")
    with_application = Lineage([*whole.nodes, application], [*edges, LineageEdge("topic:t5", application.id)])
    assert {"x", "t5"} <= {node.name for node in urgent(with_application).nodes}
    of_topic = urgent(whole, ["all"], most=50)
    assert (len(of_topic.nodes), {"all", "c7", "c9"} <= {node.name for node in of_topic.nodes}) == (50, True)


def test_with_a_thousand_connectors_the_graph_shows_those_that_failed(thousand: Client):
    text = Page(thousand).get("/ui/graph").text
    assert "too many for one picture" in text and "Shown is what has failed" in text
    assert "connector c0010, failed" in text and "connector c0011" not in text


def test_all_at_a_glance_over_rest(thousand: Client):
    found = thousand("GET", "/headrace/overview?state=FAILED&sort=-name&page=2").json
    assert (found["matching"], found["pages"], found["connectors"][0]["name"]) == (100, 2, "c0490")
    assert found["counts"]["failed_connectors"] == 100 and found["states"] == {"FAILED": 100, "RUNNING": 900}
    for query in ("sort=colour", "state=FAILD", "type=foo"):
        refused = thousand("GET", f"/headrace/overview?{query}")
        name, _, value = query.partition("=")
        assert (refused.status, f"'{name}' is '{value}'; it has to be one of " in refused.message) == (400, True)
    for query, matching in (("state=failed", 100), ("state=PAUSED", 0), ("type=source", 1000), ("type=unknown", 0)):
        assert thousand("GET", f"/headrace/overview?{query}").json["matching"] == matching
    assert thousand("GET", "/headrace/overview?q=C0999").json["matching"] == 1


def test_one_action_on_many_says_of_each_whether_it_was_done(call: Client, herder: MemoryHerder):
    body = {"action": "pause", "connectors": ["c", "none", "c"]}
    assert call("POST", "/headrace/connectors/actions", body).json["connectors"] == [
        {"name": "c", "done": True, "message": None}, {"name": "none", "done": False, "message": "Unknown connector none"},
    ]  # fmt: skip
    assert call("POST", "/headrace/connectors/actions", {"action": "drop", "connectors": ["c"]}).status == 400
    assert call("POST", "/headrace/connectors/actions", {"action": "stop", "connectors": []}).status == 400


class HalfFailedHerder(KnowingHerder):
    """Its connectors are paused, and their tasks have failed."""

    def status(self, name: str, *, own: bool = False) -> Any:
        status = super().status(name, own=own)
        tasks = [{**task, "state": "FAILED", "trace": "x.Y: It broke."} for task in status["tasks"]]
        return {**status, "connector": {**status["connector"], "state": "PAUSED"}, "tasks": tasks}


def test_a_paused_connector_whose_task_has_failed_is_shown_as_both_and_can_be_resumed():
    herder = HalfFailedHerder()
    herder.create("c", dict(CONFIG))
    server = RestServer(cast(Herder, herder), worker_config())
    server.start()
    try:
        page = Page(Client(server.urls[0]))
        for path in ("/ui", "/ui/connector?name=c", "/ui?state=PAUSED", "/ui?state=FAILED"):
            assert re.findall(r'class="pill is-(\w+)"', page.get(path).text)[:2] == ["failed", "paused"]
        offered = re.findall(r'name="action" value="([\w-]+)"', page.get("/ui/connector?name=c").text)
        assert offered == ["restart-failed", "restart", "resume", "stop", "delete"]
        assert 'name="name" value="c"' in page.post("/ui/confirm", action="resume", name="c").text
    finally:
        server.stop()


def test_a_line_ends_now_and_is_interrupted_where_nothing_is_known():
    assert line([2, 4], 100, 12, most=5) == "M74.0,6.0H75.0L100.0,1.0"
    assert line([None, 3, None, 3], 90, 12) == "M29.0,1.0H30.0M89.0,1.0H90.0"
    assert (line([None, None], 90, 12), line([1], 90, 12)) == ("", "")


def test_figures_read_as_people_do():
    assert [number(v) for v in (None, 0, 3.14159, 1204, 38_200, 1_200_000)] == ["", "0", "3.1", "1,204", "38.2 k", "1.2 M"]
    assert [span(v) for v in (None, 12, 1500, 90_000, 7_200_000)] == ["", "12 ms", "1.5 s", "1.5 min", "2 h"]
