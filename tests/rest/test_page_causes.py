"""Why something failed: what a cause names, and what the reasons of dead letters are counted over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from headrace.cli.connectors import tables
from headrace.dead_letters.letter import Letter
from headrace.dead_letters.reasons import reasons
from headrace.errors import ConfigError, trace
from headrace.preview.records import RawRecord
from headrace.rest.page.render import render
from headrace.runtime.tolerance import FailedRecord
from tests.rest.conftest import Client
from tests.rest.test_page import CONFIG, KnowingHerder, Page


def test_reasons_say_over_how_many_letters_they_are_counted():
    letters = [Letter.of(RawRecord("letters", 0, n, 0, None, b"x", ())) for n in range(2)]
    page = {"letters": [letter.json() for letter in letters], "reasons": reasons(letters), "connectors": ["c"], "records": 9}
    values = {"topic": "letters", "sentence": "", "connector": "c"}
    bounded = render(
        "dead_letters_page.html", page=page | {"before": "0:7", "counted": 500, "counted_all": False}, before="", **values
    )
    assert "of the newest 500 letters; older ones are not counted" in bounded
    whole = render(
        "dead_letters_page.html", page=page | {"before": "0:7", "counted": 60, "counted_all": True}, before="", **values
    )
    assert "of all 60 letters" in whole and "not counted" not in whole
    one = render("dead_letters_page.html", page=page | {"before": "", "counted": 1, "counted_all": True}, before="", **values)
    assert "of 1 letter<" in one


def test_letters_with_a_time_that_no_calendar_has_are_shown():
    """Of a producer that writes µs in place of ms: such records are those that fail."""
    odd = 1_700_000_000_000_000
    letter = Letter.of(RawRecord("letters", 0, 0, odd, None, b"x", ()))
    page = {"letters": [letter.json()], "reasons": reasons([letter]), "connectors": ["c"], "records": 1, "before": ""}
    page |= {"counted": 1, "counted_all": True}
    html = render("dead_letters_page.html", page=page, topic="letters", sentence="", connector="", before="")
    assert html.count(f">{odd} ms</time>") == 3
    texts = [
        str(cell) for table in (tables.letters(page), tables.reasons(page)) for column in table.columns for cell in column.cells
    ]
    assert texts.count(f"{odd} ms") == 2


def test_reasons_of_a_worker_that_does_not_count_their_messages_are_shown():
    """One of before, in a rolling upgrade."""
    (reason,) = reasons([Letter.of(RawRecord("letters", 0, 0, 0, None, b"x", ()))])
    del reason["messages"]
    assert tables.reasons({"reasons": [reason]}).row_count == 1


class FailedHerder(KnowingHerder):
    """Its connectors have failed."""

    trace = ""

    def status(self, name: str, *, own: bool = False) -> dict[str, Any]:
        status = super().status(name, own=own)
        return status | {"tasks": [{**task, "state": "FAILED", "trace": self.trace} for task in status["tasks"]]}


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (
            FailedRecord(
                {"topic": "orders", "partition": "0", "offset": "3"}, "transform:cast", "x.DataException", "No.", None, {}
            ),
            [("Record", "topic=orders, partition=0, offset=3"), ("Step", "transform &#39;cast&#39;")],
        ),
        (
            FailedRecord({"topic": "orders"}, "input.value", "x.DataException", "No.", None, {}),
            [("Record", "topic=orders"), ("Step", "reading the value")],
        ),
        (ConfigError.invalid("tasks.max", "no", "It is no number"), [("Setting", "tasks.max")]),
        (ConfigError.missing("topic"), [("Setting", "topic")]),
        (ConfigError("It broke."), []),
    ],
)
def test_a_cause_names_the_record_the_step_and_the_setting_where_it_is_of_one(
    serve: Callable[..., Client], error: FailedRecord | ConfigError, named: list[tuple[str, str]]
):
    herder = FailedHerder()
    herder.create("c", dict(CONFIG))
    herder.trace = trace(error.error() if isinstance(error, FailedRecord) else error)
    shown = Page(serve(herder=herder)).get("/ui/connector?name=c").text
    assert re.findall(r'class="named"><span>(\w+)</span> (?:<a [^>]*>)?<code>([^<]*)</code>', shown) == named
