"""Edits on the page: what is not changed stays as it runs, and nothing is overwritten that somebody else has done meanwhile."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from headrace.config.secrets import HIDDEN
from headrace.rest.page.edit_form import groups_of
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.own_plugins import CIPHER
from tests.rest.test_page import CONFIG, KnowingHerder, Page, base_of, draft

PEM = "-----BEGIN CERTIFICATE-----\r\nMIIB\r\n-----END CERTIFICATE-----\r\n"
SQL = "\nSELECT *\n  FROM orders\n"


@pytest.fixture
def herder() -> MemoryHerder:
    herder = KnowingHerder()
    herder.create("c", dict(CONFIG))
    return herder


@pytest.fixture
def page(call: Client) -> Page:
    return Page(call)


def rows_of(html: str) -> dict[str, str]:
    """The fields of a form, as a browser would send them: without the first line end of a field of several lines."""
    rows = {}
    for key, field in re.findall(r'name="key" value="([^"]*)">(.*?)<div class="error"', html, re.DOTALL):
        lines = re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", field, re.DOTALL)
        line = re.search(r'name="value" value="([^"]*)"', field)
        text = unescape(lines[1]).replace("\r\n", "\n") if lines else re.sub("[\r\n]", "", unescape(line[1] if line else ""))
        rows[unescape(key)] = text
    return rows


def apply_form(page: Page, **changed: str) -> Any:
    """Open the form of c, type into fields, review and apply."""
    html = page.get("/ui/edit?name=c").text
    rows = rows_of(html) | changed
    form = {"name": "c", "mode": "form", "base": base_of(page), "key": list(rows), "value": list(rows.values())}
    reviewed = page.post("/ui/edit/review", **form)
    assert reviewed.status == 200, reviewed.text
    fields = {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', reviewed.text)}
    sent: Any = fields
    return page.post("/ui/edit/apply", **sent)


def test_an_edit_of_one_setting_keeps_line_ends_nulls_and_logins_of_urls(page: Page, herder: MemoryHerder):
    kept = {
        "query": SQL, "producer.override.ssl.truststore.certificates": PEM, "not.set": None, "empty": "",
        "schema.registry.url": "https://reader:s3cret-9fd1@registry:8081",
        "servers": "https://reader:s3cret-9fd1@a\r\nhttps://b", "request.header.Authorization": "Bearer s3cret-9fd1",
    }  # fmt: skip
    herder.configs["c"] = {**CONFIG, **kept}
    assert "s3cret-9fd1" not in page.get("/ui/edit?name=c").text
    assert apply_form(page, topic="u").status == 200
    assert herder.configs["c"] == {**CONFIG, **kept, "topic": "u"}


def test_the_password_of_a_plugin_that_goes_away_is_hidden_in_the_review(page: Page, herder: MemoryHerder):
    enc = {"transforms": "enc", "transforms.enc.type": CIPHER, "transforms.enc.cipher.data_keys": "keys-of-somebody"}
    herder.configs["c"] = CONFIG | enc
    reviewed = page.post("/ui/edit/review", name="c", mode="json", json=json.dumps(CONFIG), base=base_of(page))
    assert "transforms.enc.cipher.data_keys" in reviewed.text
    assert "keys-of-somebody" not in reviewed.text


def test_json_keeps_a_null_and_may_remove_it(page: Page, herder: MemoryHerder):
    herder.configs["c"] = {**CONFIG, "not.set": None}
    shown = page.post("/ui/edit/form", **draft({"connector.class": "FileStreamSource", "not.set": None}), to="json").text
    assert json.loads(unescape(re.findall(r"<textarea[^>]*>(.*?)</textarea>", shown, re.DOTALL)[0]))["not.set"] is None
    edited = {**CONFIG, "producer.override.sasl.jaas.config": HIDDEN, "topic": "u"}
    assert page.post("/ui/edit/apply", **draft({**edited, "not.set": None}, base=base_of(page))).status == 200
    assert herder.configs["c"] == {**CONFIG, "topic": "u", "not.set": None}
    reviewed = page.post("/ui/edit/review", **draft(edited, base=base_of(page))).text
    assert '>not.set</th><td><del>null</del></td><td><span class="dim">not set</span>' in reviewed
    assert ">Apply</button>" in reviewed
    assert page.post("/ui/edit/apply", **draft(edited, base=base_of(page))).status == 200
    assert "not.set" not in herder.configs["c"]
    unchanged = page.post("/ui/edit/review", **draft(edited, base=base_of(page))).text
    assert "There are no changes." in unchanged and ">Apply</button>" not in unchanged


def test_a_changed_url_whose_login_is_hidden_is_refused(page: Page, herder: MemoryHerder):
    herder.configs["c"] = {**CONFIG, "url": "https://reader:s3cret@registry:8081"}
    edited = {"connector.class": "FileStreamSource", "topic": "t", "url": "https://[hidden]@other:8081"}
    answer = page.post("/ui/edit/review", **draft(edited, base=base_of(page)))
    assert (answer.status, "url has [hidden]" in answer.text, "write it in full" in answer.text) == (400, True, True)


def test_a_change_between_the_form_and_its_review_is_not_reviewed(page: Page, herder: MemoryHerder):
    base = base_of(page)
    herder.put_config("c", {**CONFIG, "topic": "other"})
    answer = page.post("/ui/edit/review", **draft({**CONFIG, "topic": "u"}, base=base))
    assert (answer.status, "has been changed since this form was opened" in answer.text) == (409, True)


@pytest.mark.parametrize("step", ["review", "apply"])
def test_a_connector_that_was_deleted_meanwhile_is_not_created_again(page: Page, herder: MemoryHerder, step: str):
    base = base_of(page)
    herder.delete("c")
    answer = page.post(f"/ui/edit/{step}", **draft({"connector.class": "FileStreamSource", "topic": "u"}, base=base))
    assert (answer.status, "has been deleted since this form was opened" in answer.text) == (409, True)
    assert herder.configs == {}


BAD_JSON = ("[" * 100_000, "9" * 5000, "[1]", "{", '{"a": NaN}')


@pytest.mark.parametrize("text", BAD_JSON, ids=["deep", "digits", "list", "cut", "nan"])
@pytest.mark.parametrize("step", ["form", "validate", "review", "preview"])
def test_a_configuration_that_is_none_is_refused_in_a_sentence(page: Page, step: str, text: str):
    answer = page.post(f"/ui/edit/{step}", name="c", mode="json", json=text, base=base_of(page))
    assert (answer.status, "log has the cause" in answer.text) == (400, False)


@pytest.mark.parametrize("text", [*BAD_JSON[:2], "{}", *BAD_JSON[3:], '[{"partition": {}, "offset": {"a": 1e999}}]'])
def test_offsets_that_are_none_are_refused_in_a_sentence(page: Page, text: str):
    answer = page.post("/ui/connector/offsets/review", name="c", offsets=text)
    assert (answer.status, "log has the cause" in answer.text) == (400, False)


@pytest.mark.parametrize("rest", ['"ofset": {"position": 5}', '"offset": null, "ofset": {}', ""])
@pytest.mark.parametrize("step", ["review", "apply"])
def test_a_misspelt_offset_is_no_reset(page: Page, herder: MemoryHerder, step: str, rest: str):
    herder.stop("c")
    herder.changes["c"] = [({"filename": "x"}, {"position": 3})]
    entry = '{"partition": {"filename": "x"}' + (f", {rest}" if rest else "") + "}"
    answer = page.post(f"/ui/connector/offsets/{step}", name="c", offsets=f"[{entry}]")
    assert (answer.status, 'Offsets are a list of {"partition": {…}, "offset": {…}}.' in unescape(answer.text)) == (400, True)
    assert herder.changes["c"] == [({"filename": "x"}, {"position": 3})]


def test_half_a_surrogate_pair_is_what_java_would_store(page: Page):
    edited = '{"connector.class": "FileStreamSource", "topic": "\\ud800"}'
    reviewed = page.post("/ui/edit/review", name="c", mode="json", json=edited, base=base_of(page))
    assert (reviewed.status, "<ins>?</ins>" in reviewed.text) == (200, True)
    offsets = page.post("/ui/connector/offsets/review", name="c", offsets='[{"partition": {"a": "\\ud800"}, "offset": {}}]')
    assert (offsets.status, '"a": "?"' in unescape(offsets.text)) == (200, True)


def test_a_setting_whose_value_a_plugin_leaves_out_is_in_the_form() -> None:
    definition = {"name": "database.port", "group": "Postgres", "importance": "HIGH", "required": True, "type": "INT"}
    form = groups_of({}, [{"definition": definition, "value": None}])  # as Debezium's validation of an empty configuration has it
    assert [(row.key, row.definition, list(row.recommended)) for group in form for row in group.rows] == [
        ("database.port", definition, [])
    ]
