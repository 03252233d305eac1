from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions
from hypothesis import given
from hypothesis import strategies as st

from headrace.background import in_background
from headrace.config.java_pattern import java_regex
from headrace.connectors.kafka_source.assignment import LeaderTopicPartition
from headrace.connectors.kafka_source.monitor import TIMEOUT, PartitionMonitor, TopicMonitorSettings, differs, select
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.errors import ConnectError
from headrace.kafka.admin import Admin
from headrace.kafka.topic_info import TopicInfo
from tests.support import captured_logs, wait_until

P = LeaderTopicPartition
partitions = st.frozensets(st.builds(P, st.integers(1, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=8)


class TestSelect:
    TOPICS = {
        "a": TopicInfo("a", {0: 1, 1: None}, internal=False, replication_factor=1, topic_id=""),
        "ab": TopicInfo("ab", {0: 2}, internal=False, replication_factor=1, topic_id=""),
        "__consumer_offsets": TopicInfo("__consumer_offsets", {0: 1}, internal=True, replication_factor=1, topic_id=""),
    }

    def test_the_whole_name_has_to_match(self):
        assert {p.topic for p in select(self.TOPICS, java_regex("a"))} == {"a"}

    def test_internal_topics_are_left_out(self):
        assert {p.topic for p in select(self.TOPICS, java_regex(".*"))} == {"a", "ab"}

    def test_a_partition_without_a_leader_counts(self):
        assert select(self.TOPICS, java_regex("a")) == {P(1, "a", 0), P(-1, "a", 1)}


class TestDiffers:
    @given(partitions, partitions)
    def test_with_leaders_any_difference_counts(self, before, after):
        assert differs(before, after, leaders=True) == (before != after)

    @given(partitions, st.integers(4, 9))
    def test_a_new_leader_counts_only_if_it_is_to(self, before, leader):
        after = frozenset(p._replace(leader=leader) for p in before)
        assert not differs(before, after, leaders=False)
        assert differs(before, after, leaders=True) == bool(before)

    @given(partitions)
    def test_an_added_partition_always_counts(self, before):
        added = before | {P(1, "c", 0)}
        assert differs(before, added, leaders=False)
        assert differs(added, before, leaders=False)


class Watching:
    """A monitor of a real cluster and what it has reported."""

    def __init__(self, bootstrap: str, whitelist: str, timeout_s: float = 10, interval_s: float = 0.2) -> None:
        watch = TopicMonitorSettings(java_regex(whitelist), timeout_s, interval_s)
        self.changes = 0
        self.monitor = PartitionMonitor(Admin({"bootstrap.servers": bootstrap}).topics, watch, self._changed)

    def _changed(self) -> None:
        self.changes += 1

    def names(self) -> set[str]:
        return {f"{p.topic}-{p.partition}" for p in self.monitor.partitions}


@pytest.fixture
def watching(source_broker) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(whitelist: str, bootstrap: str = source_broker.bootstrap, **options: float) -> Watching:
        started.append(Watching(bootstrap, whitelist, **options))
        started[-1].monitor.start()
        return started[-1]

    yield start
    for one in started:
        one.monitor.stop(10)


@pytest.fixture
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


@pytest.fixture
def logs() -> Iterator[list]:
    with captured_logs() as captured:
        yield captured


def events(logs, level: str) -> list[str]:
    return [entry["event"] for entry in logs if entry["log_level"] == level]


def test_the_first_listing_is_there_after_the_start(watching, admin, topic_name):
    topic = topic_name("seen")
    admin.create(topic, 2, 1)
    assert watching(topic).names() == {f"{topic}-0", f"{topic}-1"}


def test_new_topics_new_partitions_and_deleted_topics_are_noticed(watching, admin, topic_name, source_broker):
    prefix = topic_name("noticed")
    one = watching(f"{prefix}.*")
    assert one.names() == set()
    admin.create(f"{prefix}-a", 1, 1)
    wait_until(lambda: one.changes == 1 and one.names() == {f"{prefix}-a-0"}, 120, "the new topic")
    client = AdminClient({"bootstrap.servers": source_broker.bootstrap})
    client.create_partitions([NewPartitions(f"{prefix}-a", 2)])[f"{prefix}-a"].result(180)
    wait_until(lambda: one.changes == 2 and one.names() == {f"{prefix}-a-0", f"{prefix}-a-1"}, 120, "the new partition")
    admin.delete([f"{prefix}-a"])
    wait_until(lambda: one.changes == 3 and one.names() == set(), 120, "the deletion")


def test_nothing_is_asked_for_as_long_as_nothing_changes(watching, admin, topic_name, logs):
    prefix = topic_name("quiet")
    one = watching(prefix)
    admin.create(f"{prefix}-not-matched", 1, 1)
    same = "No partition changes which require reconfiguration have been detected."
    wait_until(lambda: events(logs, "info").count(same) >= 2, 120, "two looks")
    assert one.changes == 0


@pytest.mark.slow
def test_a_look_asks_for_all_partitions_at_once(monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dorg.slf4j.simpleLogger.log.kafka.request.logger=debug")
    with Broker(name="asked") as broker:
        maker = Admin({"bootstrap.servers": broker.bootstrap})

        def asked(partitions: int) -> list[str]:
            """The requests of a look at so many partitions, as the broker has logged them."""
            client = f"look-{partitions}"
            admin = Admin({"bootstrap.servers": broker.bootstrap, "client.id": client})
            found = select(admin.topics(), java_regex(".*"))
            assert len(found) == partitions
            admin.describe("none")  # when this is in the log, what was asked before it is as well

            def names() -> list[str]:
                lines = [line for line in broker.log.read_text().splitlines() if f'"clientId":"{client}"' in line]
                seen = [line.partition('"requestApiKeyName":"')[2].partition('"')[0] for line in lines]
                return seen if '"name":"none"' in "".join(lines) else []

            return [name for name in wait_until(names, 120, "the last request in the log") if name != "API_VERSIONS"]

        maker.create("first", 1, 1)
        one = asked(1)
        for number in range(3):
            maker.create(f"more-{number}", 33, 1)
        assert set(one) == {"METADATA"}
        assert len(asked(100)) <= len(one) + 2, "it may take one more to connect, and not a hundred"


def test_a_cluster_that_is_not_there_fails_the_start():
    one = Watching(f"127.0.0.1:{free_port()}", ".*", timeout_s=1)
    with pytest.raises(ConnectError) as error:
        one.monitor.start()
    assert str(error.value) == TIMEOUT
    assert "Could not reach the Kafka cluster" in str(error.value.__cause__)


def test_before_the_first_listing_nothing_is_known():
    with pytest.raises(ConnectError, match="not known yet"):
        _ = Watching("127.0.0.1:1", ".*").monitor.partitions


class Held:
    """A monitor whose listings begin and do not end while `with` it, the first ones aside."""

    def __init__(self, ended_before: int) -> None:
        watch = TopicMonitorSettings(java_regex(".*"), 600, 0.01)
        self.monitor = PartitionMonitor(self._list, watch, lambda: None)
        self.begun, self.ended, self._let = threading.Event(), threading.Event(), threading.Event()
        self._ended_before = ended_before

    def _list(self, _timeout_s: float) -> dict[str, TopicInfo]:
        self._ended_before -= 1
        if self._ended_before < 0:
            self.begun.set()
            self._let.wait(600)
            self.ended.set()
        return {}

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self._let.set()
        assert self.ended.wait(180)


def test_a_start_that_is_called_off_ends_without_an_error_before_the_listing_does():
    stopping = threading.Event()
    with Held(0) as held:
        started = in_background(lambda: held.monitor.start(stopping), "starts")
        assert held.begun.wait(180) and not started.done()
        stopping.set()
        started.result(180)
        assert not held.ended.is_set()
        held.monitor.stop(0)


def test_a_stop_waits_no_longer_than_it_may():
    with Held(1) as held:
        held.monitor.start()
        assert held.begun.wait(180)
        held.monitor.stop(0.1)
        assert not held.ended.is_set()


@pytest.mark.slow
def test_an_outage_is_logged_and_the_partitions_are_kept(logs):
    with Broker(name="outage") as broker:
        Admin({"bootstrap.servers": broker.bootstrap}).create("kept", 1, 1)
        one = Watching(broker.bootstrap, ".*")
        one.monitor.start()
        broker.kill()
        wait_until(lambda: any(error.startswith(TIMEOUT) for error in events(logs, "error")), 120, "the error in the log")
        assert one.names() == {"kept-0"}
        broker.start()
        Admin({"bootstrap.servers": broker.bootstrap}).create("new", 1, 1)
        wait_until(lambda: one.names() == {"kept-0", "new-0"}, 180, "the new topic")
        one.monitor.stop(10)
        assert one.changes == 1
