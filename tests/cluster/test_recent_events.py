"""What is kept of the events in memory."""

from __future__ import annotations

from headrace.cluster.event_log import EventLog, EventLogs, kafka_event_logs
from headrace.cluster.recent_events import IN_MEMORY, RecentEvents


def _of(log: EventLog, connector: str) -> list[int]:
    return [event["task"] for event in log.last(IN_MEMORY, connector=connector)]


def _fill(logs: EventLogs) -> None:
    for log in (logs.history, logs.audit):
        for task in range(3):
            log.add(connector="calm", task=task)
        for task in range(2 * IN_MEMORY):
            log.add(connector="flapping", task=task)


def test_a_connector_that_flaps_displaces_the_history_of_no_other():
    logs = kafka_event_logs({"history": None, "audit": None}, None, None)  # type: ignore[arg-type]
    for one in (logs, EventLogs()):
        _fill(one)
        assert _of(one.history, "calm") == [0, 1, 2]
        assert _of(one.history, "flapping")[-1] == 2 * IN_MEMORY - 1
        assert _of(one.audit, "calm") == [], "the audit has the last changes, without gaps"


def test_the_room_is_shared_and_the_order_kept():
    events = RecentEvents(lambda event: event["of"])
    added = [{"of": "abc"[number % 3] if number < 900 else "a", "number": number} for number in range(IN_MEMORY + 500)]
    for event in added:
        events.add(event)
    kept = events.matching(lambda _event: True)
    assert kept == [event for event in added if event["of"] != "a" or event["number"] in {one["number"] for one in kept}]
    assert (len(kept), kept[-1]["number"]) == (IN_MEMORY, IN_MEMORY + 499)
    assert len(events.matching(lambda event: event["of"] == "b")) == 300


def test_more_owners_than_room_lose_those_that_were_silent_longest():
    events = RecentEvents(lambda event: event["of"])
    for number in range(IN_MEMORY + 500):
        events.add({"of": str(number)})
    kept = events.matching(lambda _event: True)
    assert [kept[0]["of"], kept[-1]["of"], len(kept)] == ["500", str(IN_MEMORY + 499), IN_MEMORY]
