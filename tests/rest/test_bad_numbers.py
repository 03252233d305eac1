"""Numbers of any length where REST takes one: a sentence, never a trace."""

from __future__ import annotations

import pytest

from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.types import Type, parse_type
from headrace.dead_letters.letter import LetterId
from headrace.errors import BadRequestError, ConfigError
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.test_page import STREAMS

DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "path",
    [
        f"/headrace/overview?page={DIGITS}", "/headrace/overview?page=0", f"/headrace/figures?points={DIGITS}",
        f"/headrace/connectors/c/figures?points={DIGITS}", f"/headrace/connectors/c/logs?lines={DIGITS}",
        f"/headrace/connectors/c/logs?task={DIGITS}", f"/headrace/connectors/c/history?lines={DIGITS}",
        f"/headrace/audit?lines={DIGITS}", "/headrace/audit?before=yesterday", f"/headrace/audit?before={DIGITS}",
        f"/headrace/dead-letters/letters?count={DIGITS}",
    ],
)  # fmt: skip
def test_a_number_that_is_none_is_refused_in_a_sentence(call: Client, herder: MemoryHerder, path: str):
    herder.create("c", {"connector.class": "FileStreamSource"})
    answer = call("GET", path)
    assert (answer.status, "it has to be" in answer.message, len(answer.message) < 200) == (400, True, True)


def test_a_task_of_any_number_is_not_there(call: Client, herder: MemoryHerder):
    herder.create("c", {"connector.class": "FileStreamSource"})
    statuses = [call("GET", f"/connectors/c/tasks/{task}/status").status for task in (DIGITS, "-" + DIGITS, "+-1", "x")]
    assert set(statuses) == {404}
    assert call("GET", f"/connectors/c/tasks/{'0' * 5000}/status").status == 200


def test_a_page_of_any_number_is_shown(call: Client, herder: MemoryHerder):
    herder.create("c", {"connector.class": "FileStreamSource"})
    for path in (f"/ui?page={DIGITS}", f"/ui/rows?page={DIGITS}"):
        answer = call("GET", path, headers={"Accept": "text/html"})
        assert (answer.status, "FileStreamSource" in answer.text) == (200, True)


def test_a_dead_letter_of_any_number_is_refused_in_a_sentence():
    for text in (f"{DIGITS}:0", f"0:{DIGITS}", f"0:{2**63}"):
        with pytest.raises(BadRequestError, match="names no dead letter"):
            LetterId.parse(text)
    assert LetterId.parse(f"0:{2**63 - 1}") == LetterId(0, 2**63 - 1)


def test_a_measure_beyond_any_number_is_refused(call: Client):
    report = {**STREAMS, "metrics": {"a": {"lag": 1.7e308}, "b": {"lag": 1.7e308}}}
    answer = call("PUT", "/headrace/streams/beyond/i", report)
    assert (answer.status, "metrics.a.lag" in answer.message) == (400, True)
    assert call("GET", "/headrace/streams").status == 200


def test_a_setting_of_any_number_is_refused_as_kafka_does():
    for text in (DIGITS, "-" + DIGITS, str(2**63)):
        with pytest.raises(ConfigError, match="Not a number of type LONG"):
            parse_type("a", text, Type.LONG)
    assert [parse_type("a", text, Type.LONG) for text in ("0" * 5000 + "7", str(-(2**63)), "+1")] == [7, -(2**63), 1]
    assert [parse_type("a", text, Type.DOUBLE) for text in ("0x1p99999", "-0x1p99999")] == [float("inf"), float("-inf")]


def test_a_pattern_that_repeats_more_often_than_any_number_is_refused():
    with pytest.raises(JavaRegexError, match="Illegal repetition range"):
        java_regex(f"a{{{DIGITS}}}")


def test_an_origin_that_is_no_url_may_change_nothing(call: Client, herder: MemoryHerder):
    herder.create("c", {"connector.class": "FileStreamSource"})
    answer = call("PUT", "/connectors/c/pause", headers={"Origin": "http://[x"})
    assert (answer.status, herder.states) == (403, {"c": "RUNNING"})
