"""Records that the source cluster has lost are never passed over in silence: `source.data.loss`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import httpx
import pytest

from headrace.embedded import Broker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.kafka_source.test_transforms import SCHEMALESS
from tests.support import wait_until

Make = Callable[..., Mirror]
Name = Callable[[str], str]
Events = list[MutableMapping[str, Any]]


IN_BATCHES = {**SCHEMALESS, "transforms": "mine", "transforms.mine.type": "tests.transforms.own_plugins.Counted"}
"""A chain that takes many records at once."""


def values(count: int, first: int = 0) -> list[Sent]:
    return [record(None, b"%d" % n) for n in range(first, first + count)]


def filled(source: Cluster, topic: str, count: int = 10, first: int = 0) -> str:
    source.create(topic)
    source.produce(topic, values(count, first))
    return topic


def made_anew(source: Cluster, topic: str, count: int) -> None:
    """The topic again, with other records."""
    source.admin.delete([topic])
    filled(source, topic, count, first=1000)


def stopped_at(one: Mirror, topic: str, offset: int) -> None:
    """Wait until this offset is stored, and stop the connector."""
    wait_until(lambda: one.offsets() == {f"{topic}:0": offset}, CONNECTOR_S, f"offset {offset} is stored; {one.status()}")
    one.put("stop")
    one.await_states("STOPPED")


def told(one: Mirror, policy: str, events: Events) -> None:
    """Set the policy, and wait until a task with it reads, also in place of one that runs."""

    def begun() -> int:
        return sum(e["event"] == "task.stream-mode" and e["connector"] == one.name for e in events)

    before = begun()
    one.configure({"source.data.loss": policy})
    wait_until(lambda: begun() > before, CONNECTOR_S, lambda: f"a task with the policy {policy}; {one.status()}")
    one.await_states("RUNNING", "RUNNING")


def losses(one: Mirror) -> list[dict[str, Any]]:
    """The records of the loss topic: [reason, first, last, action, resumed]."""
    return [json.loads(r.value or b"") for r in one.destination.read(f"{one.name}-loss")]


def brief(one: Mirror) -> list[tuple[Any, ...]]:
    return [(r["reason"], r["first_lost"], r["last_lost"], r["action"], r["resumed_at"]) for r in losses(one)]


def metrics(one: Mirror) -> str:
    lines = httpx.get(one.worker.url.rstrip("/") + "/metrics", timeout=100).text.splitlines()
    return "\n".join(line for line in lines if f'connector="{one.name}"' in line)


def measured(one: Mirror, name: str) -> float:
    lines = metrics(one).splitlines()
    start = f'headrace_task_{name}_total{{connector="{one.name}",task="0"}} '
    return float(next(line for line in lines if line.startswith(start)).removeprefix(start))


def test_expired_records_fail_the_task_with_the_exact_range_until_told_to_go_on(
    source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    topic = filled(source, topic_name("lost"))
    one = mirror(topic)
    stopped_at(one, topic, 9)
    source.produce(topic, values(10, first=10))
    source.delete_before(topic, 15)
    one.put("resume")
    topic_id = source.admin.topic_ids([topic])[topic]
    assert (
        f"The source cluster has lost records of {topic}-0: offsets 10 to 14, which were deleted before they were copied "
        f"(stored: offset 9; there now: offsets 15 to 19, topic id {topic_id}). To resume, set source.data.loss to 'rewind' "
    ) in one.trace()
    assert one.destination.size(one.prefix + topic) == 10
    (loss,) = losses(one)
    time = loss.pop("time")
    assert time.endswith("Z")
    assert loss == {
        "connector": one.name, "task": 0, "source": source.bootstrap, "topic": topic, "partition": 0, "reason": "expired",
        "first_lost": 10, "last_lost": 14, "stored_offset": 9, "stored_topic_id": topic_id, "topic_id": topic_id,
        "log_start": 15, "log_end": 20, "action": "fail", "resumed_at": None,
    }  # fmt: skip
    line = next(e for e in events if e["event"] == "source.data.loss")
    assert (line["log_level"], line["topic"], line["partition"], line["connector"]) == ("warning", topic, 0, one.name)
    assert (measured(one, "data_losses"), measured(one, "data_loss_records")) == (1, 5)
    told(one, "continue", events)
    assert one.await_copied(topic, 15) == [*values(10), *values(5, first=15)]
    assert brief(one)[1:] == [("expired", 10, 14, "continue", 15)]
    settings = one.destination.admin.topic_configs(f"{one.name}-loss", own_only=True)
    assert settings == {"cleanup.policy": "delete", "retention.ms": "-1"}


def test_a_topic_made_anew_while_stopped_is_recognized_though_it_is_longer(
    source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    topic = filled(source, topic_name("anew"))
    one = mirror(topic)
    stopped_at(one, topic, 9)
    old = source.admin.topic_ids([topic])[topic]
    made_anew(source, topic, 20)
    one.put("resume")
    assert (
        f"offset 10 and what followed, as the topic was deleted and recreated (stored: offset 9 of topic id {old};" in one.trace()
    )
    told(one, "continue", events)
    assert one.await_copied(topic, 30) == [*values(10), *values(20, first=1000)]
    assert brief(one) == [("recreated", 10, None, "fail", None), ("recreated", 10, None, "continue", 0)]
    stopped_at(one, topic, 19)
    one.put("resume")
    source.produce(topic, values(1, first=1020))
    one.await_copied(topic, 31)
    assert len(losses(one)) == 2, "told once: what is stored from then on is of the new topic"


@pytest.mark.parametrize(("mode", "chain"), [("realtime", {}), ("microbatch", IN_BATCHES)])
def test_a_topic_made_anew_while_it_is_read_is_recognized_though_it_is_longer(
    source: Cluster, mirror: Make, topic_name: Name, mode: str, chain: Mapping[str, str], events: Events
) -> None:
    topic = filled(source, topic_name("running"))
    one = mirror(topic, {"topic.list.poll.interval.ms": "3600000", "source.data.loss": "rewind", **chain})
    wait_until(lambda: one.offsets() == {f"{topic}:0": 9}, CONNECTOR_S, "all is copied")
    made_anew(source, topic, 20)
    new = [r.value for r in values(20, first=1000)]

    def copied() -> bool:
        return [r.value for r in one.destination.read(one.prefix + topic)][-20:] == new

    wait_until(copied, CONNECTOR_S, f"the new topic from its beginning; {one.status()}")
    assert brief(one) == [("recreated", 10, None, "rewind", 0)]
    wait_until(lambda: one.offsets() == {f"{topic}:0": 19}, CONNECTOR_S, "all is stored")
    assert [stream and stream["mode"] for stream in one.streams()] == [mode]
    told(one, "fail", events)
    made_anew(source, topic, 1)
    assert "offset 20 and what followed, as the topic was deleted and recreated" in one.trace()


def test_an_empty_topic_made_anew_before_its_first_record_is_recognized(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("first")
    source.create(topic)
    one = mirror(topic, {"topic.list.poll.interval.ms": "3600000", "source.data.loss": "continue"})
    one.await_states("RUNNING", "RUNNING")
    wait_until(lambda: f'partition="{topic}-0"' in metrics(one), CONNECTOR_S, "the stream has begun")
    made_anew(source, topic, 3)
    wait_until(lambda: brief(one), CONNECTOR_S, "the loss is written down")
    assert brief(one) == [("recreated", 0, None, "continue", 0)]
    assert one.await_copied(topic, 3)[-3:] == values(3, first=1000)


@pytest.mark.parametrize(("policy", "copied"), [("rewind", [*range(10), *range(12)]), ("continue", [*range(12)])])
def test_a_stored_offset_beyond_the_end_is_a_loss(
    policy: str, copied: list[int], source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    topic = filled(source, topic_name("beyond"))
    one = mirror(topic)
    stopped_at(one, topic, 9)
    (stored,) = one.worker.call("GET", one.path + "/offsets")["offsets"]
    change: Mapping[str, Any] = {"partition": stored["partition"], "offset": {**stored["offset"], "offset": 99}}
    one.worker.call("PATCH", one.path + "/offsets", {"offsets": [change]})
    one.put("resume")
    assert "offsets 10 to 99, which were copied and are beyond the end of the log now (stored: offset 99;" in one.trace()
    told(one, policy, events)
    at = 0 if policy == "rewind" else 10
    wait_until(lambda: len(losses(one)) == 2, CONNECTOR_S, "the loss is written down")
    source.produce(topic, values(2, first=10))
    assert one.await_copied(topic, len(copied)) == [record(None, b"%d" % n) for n in copied]
    assert brief(one) == [("truncated", 10, 99, "fail", None), ("truncated", 10, 99, policy, at)]


def test_a_log_that_has_lost_its_end_on_the_broker_is_a_loss(
    source_broker: Broker, source: Cluster, mirror: Make, topic_name: Name
) -> None:
    topic = filled(source, topic_name("truncated"))
    one = mirror(topic)
    stopped_at(one, topic, 9)
    emptied(source_broker, topic)
    one.put("resume")
    assert (
        f"{topic}-0: offsets 0 to 9, which were copied and are beyond the end of the log now (stored: offset 9; there now: no "
        "records, its next offset is 0"
    ) in one.trace()
    assert brief(one) == [("truncated", 0, 9, "fail", None)]


def test_a_log_that_loses_its_end_while_it_is_read_is_a_loss_though_it_grows_again(
    source_broker: Broker, source: Cluster, mirror: Make, topic_name: Name
) -> None:
    topic = filled(source, topic_name("truncated"))
    one = mirror(topic, {"source.data.loss": "continue"})
    one.await_stored({f"{topic}:0": 9})
    emptied(source_broker, topic)
    new = values(20, first=1000)
    source.produce(topic, new)
    wait_until(lambda: one.destination.read(one.prefix + topic)[10:] == new, CONNECTOR_S, lambda: f"the rest; {one.status()}")
    assert brief(one) == [("truncated", 0, 9, "continue", 0)]
    one.await_stored({f"{topic}:0": 19})


def emptied(broker: Broker, topic: str) -> None:
    """Have a broker lose all records of a topic's one partition."""
    broker.kill()
    try:
        (folder,) = broker.data.rglob(f"{topic}-0")
        for file in folder.iterdir():
            if file.name != "partition.metadata":  # which has the id of the topic
                file.unlink()
    finally:
        broker.start()


def test_records_that_vanish_before_a_batch_is_read_are_a_loss(
    source: Cluster, mirror: Make, topic_name: Name, events: Events
) -> None:
    topic = filled(source, topic_name("vanished"))
    creation = {f"topic.creation.default.{key}": None for key in ("partitions", "replication.factor", "retention.ms")}
    loss = topic_name("named")
    one = mirror(topic, {**creation, "source.data.loss": "continue", "source.data.loss.topic": loss})
    one.destination.create(one.prefix + topic)
    stopped_at(one, topic, 9)
    one.destination.admin.delete([one.prefix + topic])
    source.produce(topic, values(2000, first=10))  # more than a consumer fetches at once
    one.put("resume")
    wait_until(lambda: any("waiting until topic" in e["event"] for e in events), CONNECTOR_S, "a batch waits for its topic")
    source.delete_before(topic, 2010)
    source.produce(topic, values(5, first=2010))
    one.destination.create(one.prefix + topic)
    assert one.await_copied(topic, 5)[-5:] == values(5, first=2010)
    (found,) = [json.loads(r.value or b"") for r in one.destination.read(loss)]
    assert (found["reason"], found["first_lost"], found["last_lost"], found["resumed_at"]) == ("expired", 10, 2009, 2010)
    assert one.states() == ["RUNNING", "RUNNING"]
