"""Offsets of a stopped connector are reset on the page, after a dialog that says what is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest

from headrace.rest.page.offsets import OffsetChangeRow
from headrace.rest.page.render import render
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_page import CONFIG, KnowingHerder, Page, as_user, server_of_users, users

__all__ = ["as_user", "server_of_users", "users"]

SHOWN = "/ui/connector/offsets?name=c"
RESET = "/ui/connector/offsets/confirm-reset"


@pytest.fixture
def herder() -> MemoryHerder:
    made = KnowingHerder()
    made.create("c", dict(CONFIG))
    made.stop("c")
    made.changes["c"] = [({"filename": "<b>in</b>"}, {"position": 7})]
    return made


def test_they_are_reset_after_a_dialog_that_says_which(as_user: Callable[[str], Page], herder: MemoryHerder):
    olaf = as_user("olaf")
    assert RESET in olaf.get(SHOWN).text
    dialog = olaf.post(RESET, name="c").text
    assert "Reset 1 offset</button>" in dialog and "starts as a new connector does" in dialog and "<b>in" not in dialog
    assert herder.changes["c"], "the dialog alone changes nothing"
    assert "reset successfully" in olaf.post("/ui/connector/offsets/reset", name="c").text
    assert "c" not in herder.changes
    assert RESET not in olaf.get(SHOWN).text, "there is nothing left to reset"


def test_of_a_sink_the_dialog_says_what_its_consumer_does_then():
    found = [{"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 3}}] * 2
    text = render("offsets_reset.html", name="c", found=found, sink=True)
    assert "auto.offset.reset" in text and "starts as a new connector does" not in text and "Reset 2 offsets" in text


def test_offsets_are_shown_as_they_are_and_not_as_a_script_needs_them():
    partition, offset = {"filename": "/data/Müller & Söhne/日報's <b>.txt"}, {"z": 1, "a": 2}
    found, change = [{"partition": partition, "offset": offset}], OffsetChangeRow(partition, offset, {"z": 2})
    for html in (
        render("offsets_reset.html", name="c", found=found, sink=False),
        render("offsets_review.html", name="c", changes=[change], body="[]"),
    ):
        assert "<b>" not in html
        assert """<code>{"filename": "/data/Müller & Söhne/日報's <b>.txt"}</code>""" in unescape(html)
        assert """<del>{"z": 1, "a": 2}</del>""" in unescape(html)


def test_a_reset_is_not_offered_to_readers_nor_of_what_runs(as_user: Callable[[str], Page], herder: MemoryHerder):
    assert RESET not in as_user("rita").get(SHOWN).text
    assert as_user("rita").post(RESET, name="c").status == 403
    herder.resume("c")
    assert RESET not in as_user("olaf").get(SHOWN).text
