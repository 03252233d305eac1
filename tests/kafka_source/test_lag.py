"""`GET /headrace/connectors/{name}/lag`: how far a mirror is behind, by partition."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
DONE_MS = 1_700_000_000_000


def lag(one: Mirror, query: str = "") -> dict[str, Any]:
    return one.worker.call("GET", f"/headrace/connectors/{one.name}/lag{query}")


def timed(one: Mirror) -> dict[str, Any]:
    """The lag with the times of all that is copied or waits; they are None if they could not be read within a few seconds."""

    def found() -> dict[str, Any]:
        answer = lag(one)
        begun = [p for p in answer["partitions"] if p["end_offset"]]
        return answer if all(None not in (p["timestamp"], p["freshness_ms"]) for p in begun) else {}

    return wait_until(found, CONNECTOR_S, lambda: f"all times; {lag(one)}")


def test_lag_and_freshness_of_each_partition_are_told_whatever_the_tasks_do(
    source: Cluster, mirror: Make, topic_name: Name
) -> None:
    topic = topic_name("behind")
    source.create(topic, 3)
    source.produce(topic, [record(timestamp=DONE_MS + n, partition=n % 2) for n in range(20)])
    one = mirror(topic)
    wait_until(lambda: one.offsets() == {f"{topic}:0": 9, f"{topic}:1": 9}, CONNECTOR_S, "all is copied")
    about = {"topic": topic, "task": 0, "lag": 0, "freshness_ms": 0}
    done = [
        {**about, "partition": 0, "offset": 9, "end_offset": 10, "timestamp": DONE_MS + 18},
        {**about, "partition": 1, "offset": 9, "end_offset": 10, "timestamp": DONE_MS + 19},
        {**about, "partition": 2, "offset": None, "end_offset": 0, "timestamp": None},
    ]
    assert timed(one) == {"connector": one.name, "lag": 0, "freshness_ms": 0, "partitions": done}
    realtime = {"mode": "realtime", "reason": "the data plane copies record by record"}
    wait_until(lambda: one.streams() == [realtime], CONNECTOR_S, lambda: f"the mode is read back; {one.streams()}")
    one.put("stop")
    one.await_states("STOPPED")
    assert one.streams() == []
    waiting_since = time.time_ns() // 1_000_000 - 60_000
    source.produce(topic, [record(timestamp=waiting_since + n, partition=1) for n in range(5)])
    found = timed(one)
    first, second = found["partitions"]  # no task has them any more: those that have an offset
    assert first == {**done[0], "task": None}
    age = second.pop("freshness_ms")
    assert second == {
        "topic": topic,
        "partition": 1,
        "task": None,
        "offset": 9,
        "end_offset": 15,
        "lag": 5,
        "timestamp": DONE_MS + 19,
    }
    assert 60_000 <= age <= time.time_ns() // 1_000_000 - waiting_since
    assert (found["lag"], found["freshness_ms"]) == (5, age)
    quick = lag(one, "?freshness=false")
    assert [p["lag"] for p in quick["partitions"]] == [0, 5]
    assert {p["freshness_ms"] for p in quick["partitions"]} == {p["timestamp"] for p in quick["partitions"]} == {None}
    source.admin.delete([topic])
    assert [(p["offset"], p["end_offset"], p["lag"]) for p in lag(one)["partitions"]] == [(9, None, None)] * 2
