from __future__ import annotations

from typing import Any

import pytest

from headrace.errors import ConfigError, RestError
from headrace.rest.streams_reports import StreamsReports, applications
from headrace.streams.config import StreamsConfig
from headrace.streams.worker_report import _address
from tests.rest.conftest import Client
from tests.rest.test_page import STREAMS

MINUTE_MS = 60_000


def kept(*reports: tuple[str, dict[str, Any]], later_ms: int = 0) -> list[dict[str, Any]]:
    """The applications of these instances of `app`, so long after they reported."""
    now = [0]
    store = StreamsReports(lambda: now[0])
    for instance, more in reports:
        store.put("app", instance, STREAMS | more)
    now[0] += later_ms
    return applications(store.instances())


def test_state_and_lag_are_those_of_the_instance_that_has_the_work():
    (app,) = kept(("a", {"active": False, "metrics": {}}), ("b", {}), ("c", {"active": False, "state": "ERROR"}))
    assert (app["state"], app["lag"], app["init"], len(app["instances"])) == ("RUNNING", 3, "ready", 3)


def test_without_one_that_works_the_worst_state_counts():
    (app,) = kept(("a", {"active": False, "state": "REBALANCING"}), ("b", {"active": False, "state": "ERROR", "error": "Why."}))
    assert (app["state"], app["lag"]) == ("ERROR", None)


def test_an_instance_without_reports_is_silent_then_forgotten_unless_it_had_ended():
    assert [one["state"] for one in kept(("a", {}), later_ms=MINUTE_MS)] == ["SILENT"]
    assert [one["state"] for one in kept(("a", {"state": "NOT_RUNNING"}), later_ms=MINUTE_MS)] == ["NOT_RUNNING"]
    assert kept(("a", {}), later_ms=16 * MINUTE_MS) == []


@pytest.mark.parametrize(
    ("states", "init"),
    [
        ([], "ready"), (["ok"], "ready"), (["missing"], "missing"), (["ok", "missing"], "incomplete"),
        (["misconfigured"], "misconfigured"),
    ],
)  # fmt: skip
def test_the_initialization_in_a_word(states: list[str], init: str):
    topics = [{**STREAMS["internal_topics"][0], "state": state} for state in states]
    assert kept(("a", {"internal_topics": topics}))[0]["init"] == init


def test_no_more_instances_are_kept_than_are_bounded():
    store = StreamsReports(lambda: 0)
    for n in range(500):
        store.put("app", str(n), STREAMS)
    store.put("app", "7", STREAMS)
    with pytest.raises(RestError, match="keeps the reports of 500 instances"):
        store.put("app", "one more", STREAMS)


def test_what_is_no_report_is_refused_in_a_sentence(call: Client):
    answer = call("PUT", "/headrace/streams/app/i", {**STREAMS, "state": "<b>"})
    assert (answer.status, "state:" in answer.message) == (400, True)
    assert call("PUT", "/headrace/streams/app/i", {**STREAMS, "topology": "x" * 300_000}).status == 413


@pytest.mark.parametrize("url", ["localhost:8083", "http://me:secret@localhost:8083"])
def test_an_address_that_is_none_is_refused(url: str):
    config = {"application.id": "app", "bootstrap.servers": "none:1", "headrace.report.url": url}
    with pytest.raises(ConfigError, match="has to be the address of a worker"):
        _address(StreamsConfig(config), "i")
