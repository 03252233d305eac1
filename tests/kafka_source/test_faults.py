"""Mirrors, at least once and exactly once side by side, while what they depend on fails."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headrace.embedded import Broker
from headrace.errors import RetriableError
from headrace.spark.plane import cores, running_planes
from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.sending import Sender
from tests.support import wait_until

CUT_S = float(os.environ.get("HEADRACE_CUT_S", "12"))
"""How long nobody can be reached: longer than the session time-out of the workers (10 s), by default."""
PARTITIONS = 3
CONFIG = {"topic.creation.default.partitions": str(PARTITIONS)}

Make = Callable[..., Mirror]
Name = Callable[[str], str]


@contextmanager
def silent(*brokers: Broker) -> Iterator[None]:
    """Brokers that are there and say nothing, as behind a network that is cut."""
    pids = [broker.pid for broker in brokers if broker.pid is not None]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def size(one: Mirror, topic: str) -> int | None:
    """Of a copy; None while that cannot be found out."""
    try:
        return one.destination.size(one.prefix + topic)
    except RetriableError:
        return None


def await_more(mirrors: list[Mirror], topic: str) -> None:
    """Wait until each copy has grown."""
    before: dict[str, int] = {}

    def grown(one: Mirror) -> bool:
        now = size(one, topic)
        return now is not None and now > before.setdefault(one.name, now)

    for one in mirrors:
        wait_until(lambda one=one: grown(one), 2 * CONNECTOR_S, lambda one=one: f"more is copied; {one.status()}")


def await_all(mirrors: list[Mirror], sender: Sender) -> None:
    """Wait until everything that was sent is copied, and stored as such."""
    for one in mirrors:
        wait_until(
            lambda one=one: one.offsets_if_known() == sender.ends(),
            2 * CONNECTOR_S,
            lambda one=one: f"all of {sender.ends()} is copied; {one.offsets_if_known()}; {one.status()}",
        )


def copied(one: Mirror, topic: str, partition: int) -> list[bytes | None]:
    return [r.value for r in one.destination.read(one.prefix + topic, settled=True) if r.partition == partition]


def test_nothing_is_lost_while_brokers_are_killed_and_the_network_is_cut(
    source_broker: Broker, destination_broker: Broker, source: Cluster, mirror: Make, exact_mirror: Make, topic_name: Name
) -> None:
    topic, brokers = topic_name("faults"), (source_broker, destination_broker)
    source.create(topic, PARTITIONS)
    mirrors = [make(topic, CONFIG) for make in (mirror, exact_mirror)]
    with Sender(source.bootstrap, topic, PARTITIONS) as sender:
        await_more(mirrors, topic)
        for broker in brokers:
            broker.kill()
        for broker in brokers:
            broker.start()
        await_more(mirrors, topic)
        with silent(*brokers):
            threading.Event().wait(CUT_S)
        await_more(mirrors, topic)
        sender.stop()
    await_all(mirrors, sender)
    plain, exact = mirrors
    for partition in range(PARTITIONS):
        assert list(dict.fromkeys(copied(plain, topic, partition))) == sender.values(partition), "all there, in order"
        assert copied(exact, topic, partition) == sender.values(partition), "each once, in order"
    print(f"sent {sum(sender.counts)}, delivered twice {plain.destination.size(plain.prefix + topic) - sum(sender.counts)}")
    for one in mirrors:
        one.await_states("RUNNING", "RUNNING")


def test_clients_that_take_for_ever_to_be_made_hold_up_no_other_feed(
    source: Cluster, mirror: Make, topic_name: Name, tmp_path: Path
) -> None:
    topic, keys = topic_name("held"), tmp_path / "keys.pem"
    source.create(topic)
    source.produce(topic, [record()])
    others = [mirror(topic) for _ in range(cores())]  # one in each Spark task
    for other in others:
        other.await_stored({f"{topic}:0": 0})
    os.mkfifo(keys)  # whoever reads it waits for one who writes
    secured = {"security.protocol": "SSL", "ssl.truststore.type": "PEM", "ssl.truststore.location": str(keys)}
    before = feeds()
    try:
        for number in range(cores()):
            own = {**secured, "client.id": f"{topic}-{number}"}  # and so lanes
            mirror(topic, {f"connector.consumer.{name}": value for name, value in own.items()})
        wait_until(lambda: feeds() == before + cores(), CONNECTOR_S, lambda: f"{before + cores()} feeds, not {feeds()}")
        source.produce(topic, [record()])
        for other in others:
            other.await_stored({f"{topic}:0": 1})
        mirror(topic).await_stored({f"{topic}:0": 1})
    finally:
        os.close(os.open(keys, os.O_RDWR))


def test_a_class_of_a_client_that_cannot_be_loaded_fails_its_feed_alone(source: Cluster, mirror: Make, topic_name: Name) -> None:
    topic = topic_name("unloaded")
    source.create(topic)
    source.produce(topic, [record()])
    other = mirror(topic)
    other.await_stored({f"{topic}:0": 0})
    one = mirror(topic, {"connector.consumer.sasl.login.class": "io.netty.channel.kqueue.Native"})  # an Error, on Linux
    assert "Records could not be copied: " in one.trace()
    source.produce(topic, [record()])
    other.await_stored({f"{topic}:0": 1})
    assert other.states() == ["RUNNING", "RUNNING"]


def feeds() -> int:
    """How many feeds this process has."""
    return sum(plane.size() for plane in running_planes())


def test_a_copy_that_is_deleted_is_made_again_and_has_all_that_comes_after(
    source: Cluster, destination: Cluster, mirror: Make, exact_mirror: Make, topic_name: Name,
    events: list[MutableMapping[str, Any]],
) -> None:  # fmt: skip
    topic = topic_name("copied")
    config = {"topic.creation.default.partitions": str(PARTITIONS)}
    source.create(topic, PARTITIONS)
    mirrors = [make(topic, config) for make in (mirror, exact_mirror)]
    copies = [one.prefix + topic for one in mirrors]
    with Sender(source.bootstrap, topic, PARTITIONS) as sender:
        await_more(mirrors, topic)
        ids = destination.admin.topic_ids(copies)
        destination.admin.delete(copies)
        now = destination.admin.topic_ids
        wait_until(lambda: not now(copies).items() & ids.items(), CONNECTOR_S, "all copies are gone")
        before = list(sender.counts)  # what comes until here is in the topic that is gone
        wait_until(
            lambda: now(copies).keys() == ids.keys(),
            CONNECTOR_S,
            lambda: f"all copies are there again; {[one.status() for one in mirrors]}",
        )
        await_more(mirrors, topic)
        sender.stop()
    await_all(mirrors, sender)
    for one in mirrors:
        for partition in range(PARTITIONS):
            found = copied(one, topic, partition)
            first = int(found[0] or b"")
            assert first <= before[partition], "nothing that was sent later is missing"
            once = found if one is mirrors[1] else list(dict.fromkeys(found))  # the other one delivers at least once
            assert once == sender.values(partition)[first:], "all there, in order"
        said = f"Topic '{one.prefix}{topic}' was deleted while it is written to. It is created again, without what was in it"
        assert [e["log_level"] for e in events if e["event"] == said] == ["warning"]
        one.await_states("RUNNING", "RUNNING")
