"""What an instance does that becomes active in place of another one."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.admin import DEFAULT_TIMEOUT_S, Admin
from headrace.kafka.groups import Partition
from headrace.streams import Consumed, KafkaStreams, Serdes, StreamsBuilder, group_topic
from headrace.streams.config import StreamsConfig
from headrace.streams.shutdown_request import refuse_if_requested
from tests.streams.running.application import WAIT_S, Application
from tests.support import wait_until


def pending_offsets(app: Application) -> Producer:
    """A producer whose transaction has offsets of the application, and stays open."""
    consumer = Consumer({"bootstrap.servers": app.cluster.bootstrap, "group.id": app.id})
    patient = {"transactional.id": f"{app.id}-before", "transaction.timeout.ms": 900_000}
    producer = Producer({"bootstrap.servers": app.cluster.bootstrap, **patient})
    producer.init_transactions()
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(app.source, 0, 0)], consumer.consumer_group_metadata())
    consumer.close()
    return producer


@contextmanager
def member(app: Application, *, active: bool, topic: str | None = None) -> Iterator[ActiveStandbyMember]:
    """A member of the application's group, on a topic that has one partition: its sink, or this one."""
    is_active = threading.Event()
    settings = StreamsConfig(app.config).consumer_settings
    joined = ActiveStandbyMember(settings, app.id, topic or app.sink, lambda now: is_active.set() if now else is_active.clear())
    joined.join()
    with ExitStack() as stack:
        stack.callback(joined.leave)
        assert not active or is_active.wait(WAIT_S)
        yield joined


def test_an_instance_waits_for_the_end_of_a_transaction_of_the_one_before(make: Callable[..., Application]):
    app = make(processing_guarantee="exactly_once_v2")
    producer = pending_offsets(app)
    with member(app, active=True) as new:
        new.topic = app.source  # the partition whose offset is pending
        waits: list[float] = []

        def wait(pause_s: float) -> bool:
            if not waits:
                producer.abort_transaction()
            waits.append(pause_s)  # its offsets are pending until the group has the end of it, too
            return threading.Event().wait(pause_s)

        refuse_if_requested(new, WAIT_S, wait)
        assert waits


def test_an_instance_that_is_no_longer_active_when_its_engine_starts_has_none(
    make: Callable[..., Application], monkeypatch: pytest.MonkeyPatch
):
    app, errors = make(), list[BaseException]()

    def leaves_before_the_engine(active: ActiveStandbyMember, *arguments: Any) -> None:
        refuse_if_requested(active, *arguments)
        active.leave()

    def leaves_while_it_is_asked(active: ActiveStandbyMember) -> dict[str, set[Partition]]:
        def closing(_active: bool) -> None:
            wait_until(lambda: not active._queue.empty(), WAIT_S, "its id was asked for")

        active._listener = closing  # called before its consumer is closed
        active._stopping.set()
        wait_until(lambda: active.generation is None, WAIT_S, "it leaves")
        return {}

    with app.streams() as streams:
        monkeypatch.setattr(streams._instance, "_report", errors.append)
        with member(app, active=True) as first, monkeypatch.context() as patches:
            streams._instance._member = first
            patches.setattr("headrace.streams.instance.refuse_if_requested", leaves_before_the_engine)
            streams._instance._start_engine()
            assert first.generation is None and not streams._instance.is_active and errors == []
        with member(app, active=True) as second:
            streams._instance._member = second
            monkeypatch.setattr(streams._instance, "_assignments", lambda left_s: leaves_while_it_is_asked(second))
            streams._instance._start_engine()
            assert second.generation is None and not streams._instance.is_active and errors == []


def test_of_two_instances_whose_first_topics_differ_one_is_active(
    make: Callable[..., Application], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(group_topic, "_PAUSE_S", 0.2)  # between its looks at a group whose other member never gives way
    app = make()
    first, second = f"{app.id}.a", f"{app.id}.b"

    class AdminBehind(Admin):
        """Asks a broker that does not list the group's topic yet."""

        def partition_counts(self, timeout_s: float = DEFAULT_TIMEOUT_S) -> dict[str, int]:
            return {name: count for name, count in super().partition_counts(timeout_s).items() if name != second}

    app.cluster.create(second, 1)
    builder = StreamsBuilder()
    builder.stream(
        re.compile(f"{re.escape(app.id)}[.]."), Consumed.with_(Serdes.string(), Serdes.string())
    ).group_by_key().count()

    def stands_by(topic: str, members: int) -> bool:
        joined = streams._instance._member
        assert not streams._instance.is_active and streams.error is None
        there = app.cluster.admin.group_members(app.id)
        return (
            joined is not None and joined.topic == topic and len(there) >= members and joined.member_id() in {m[2] for m in there}
        )

    with member(app, active=True, topic=second) as before, KafkaStreams(builder.build(app.config), app.config) as streams:
        app.cluster.create(first, 1)  # the pattern matches it first, but the other instance has begun with what was there
        streams.start()
        wait_until(lambda: stands_by(second, 2), WAIT_S, lambda: f"{streams._instance._member}")
        assert before.generation is not None
        joined = streams._instance._member
        with monkeypatch.context() as patches:
            patches.setattr(streams._instance, "_admin", lambda: AdminBehind({"bootstrap.servers": app.cluster.bootstrap}))
            streams._instance._replace_deleted_group_topic()
        assert streams._instance._member is joined  # its topic exists
        with member(app, active=True, topic=first):
            app.cluster.admin.delete([second])
            wait_until(lambda: stands_by(first, 3), WAIT_S, "the group's topic was deleted")
