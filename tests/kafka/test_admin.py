from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from headrace.embedded import Broker
from headrace.errors import RetriableError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
from headrace.kafka.connection_diagnosis import ConnectionDiagnosis
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.groups import GroupOffsets, Partition
from headrace.preview.new_topics import planned_topics
from tests.preview.conftest import prepared
from tests.support import wait_until

UNREACHABLE = "127.0.0.1:1"


@pytest.fixture(scope="module")
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


def test_a_topic_is_created_with_its_settings_and_described(admin, topic_name):
    name = topic_name()
    admin.create(name, 3, 1, {"retention.ms": "1000"})
    info = admin.describe(name)
    assert info is not None
    assert (info.name, sorted(info.partitions), info.internal, info.replication_factor) == (name, [0, 1, 2], False, 1)
    assert set(info.partitions.values()) == {1}
    assert admin.topics()[name] == info and admin.partition_counts()[name] == 3
    assert admin.topics(selects=lambda topic: topic == name) == {name: info}
    assert admin.described([name, "nowhere"]) == {name: info, "nowhere": None}
    assert admin.topic_configs(name, own_only=True) == {"retention.ms": "1000"}
    assert admin.topic_configs(name)["cleanup.policy"] == "delete"


def test_minus_one_means_the_brokers_defaults(admin, topic_name):
    name = topic_name()
    admin.create(name, -1, -1)
    info = admin.describe(name)
    assert info is not None
    assert (len(info.partitions), info.replication_factor) == (1, 1)


def test_a_topic_made_anew_has_another_id(admin, topic_name):
    name = topic_name()
    ids = []
    for _ in range(2):
        admin.create(name, 1, 1)
        ids.append(admin.describe(name).topic_id)
        admin.delete([name])
    assert ids[0] != ids[1]
    assert admin.describe(name) is None


@pytest.mark.parametrize(
    ("name", "partitions", "factor", "configs", "code", "reason"),
    [
        ("taken", 1, 1, {}, "TOPIC_ALREADY_EXISTS", "Topic 'taken' already exists."),
        ("x", 1, 3, {}, "INVALID_REPLICATION_FACTOR", "Unable to replicate the partition 3 time(s)"),
        ("x", 1, 32767, {}, "INVALID_REPLICATION_FACTOR", "Unable to replicate the partition 32767 time(s)"),
        ("x", 1, -2, {}, "INVALID_REPLICATION_FACTOR", "Replication factor must be larger than 0."),
        ("x", 1_000_000, 1, {}, "POLICY_VIOLATION", "Unable to perform excessively large batch operation: 1000000"),
        ("x", 0, 1, {}, "INVALID_PARTITIONS", "Number of partitions was set to an invalid non-positive value."),
        ("x", 1, 1, {"foo.bar": "1"}, "INVALID_CONFIG", "Unknown topic config name: foo.bar"),
        ("a b", 1, 1, {}, "INVALID_TOPIC_EXCEPTION", "Topic name is invalid: 'a b'"),
    ],
)  # fmt: skip
def test_a_refusal_has_kafkas_name_and_the_brokers_sentence(admin, name, partitions, factor, configs, code, reason):
    if code == "TOPIC_ALREADY_EXISTS" and admin.describe(name) is None:
        admin.create(name, 1, 1)
    with pytest.raises(KafkaFailure) as raised:
        admin.create(name, partitions, factor, configs)
    assert raised.value.code == code
    assert raised.value.reason.startswith(reason)
    assert not isinstance(raised.value, RetriableError)


def test_offsets_of_partitions(admin, source_broker, topic_name):
    name = topic_name()
    admin.create(name, 2, 1)
    producer = Producer({"bootstrap.servers": source_broker.bootstrap})
    for timestamp in (1000, 2000, 3000):
        producer.produce(name, b"x", partition=1, timestamp=timestamp)
    producer.flush()
    both = [(name, 0), (name, 1)]
    assert admin.partition_offsets(both, "earliest") == {(name, 0): 0, (name, 1): 0}
    assert admin.partition_offsets(both, "latest") == {(name, 0): 0, (name, 1): 3}
    assert admin.partition_offsets(both, 1500) == {(name, 0): -1, (name, 1): 1}
    assert admin.partition_offsets([], "latest") == {}


def test_an_open_transaction_is_behind_the_last_stable_offset(admin, source_broker, topic_name):
    name = topic_name()
    admin.create(name, 1, 1)
    producer = Producer({"bootstrap.servers": source_broker.bootstrap, "transactional.id": name})
    producer.init_transactions(120)
    producer.begin_transaction()
    producer.produce(name, b"x")
    producer.flush()
    assert admin.partition_offsets([(name, 0)], "latest") == {(name, 0): 1}
    assert admin.partition_offsets([(name, 0)], "latest", read_committed=True) == {(name, 0): 0}
    producer.abort_transaction()


def test_offsets_of_a_group_are_set_read_and_deleted(admin, topic_name):
    name, group = topic_name(), topic_name("group")
    admin.create(name, 2, 1)
    assert admin.committed(group) == {}
    admin.commit(group, {(name, 0): 5, (name, 1): 7})
    admin.commit(group, {(name, 0): 6})
    admin.commit(group, {})
    assert admin.committed(group) == {(name, 0): 6, (name, 1): 7}
    admin.delete_group(group)
    admin.delete_group(group)
    assert admin.committed(group) == {}


def test_members_of_a_group(admin, source_broker, topic_name, monkeypatch):
    name, group = topic_name(), topic_name("group")
    admin.create(name, 2, 1)
    read, asked = GroupOffsets.read, list[int]()

    def counting(offsets: GroupOffsets, partitions: Collection[Partition], timeout_s: float) -> dict[Partition, int]:
        asked.append(len(partitions))
        return read(offsets, partitions, timeout_s)

    monkeypatch.setattr(GroupOffsets, "read", counting)
    assert admin.group_members(group) == []
    assert asked == [1]  # its coordinator is there; a cluster may have very many partitions
    member = Consumer({"bootstrap.servers": source_broker.bootstrap, "group.id": group, "client.id": "me"})
    member.subscribe([name])
    deadline = time.monotonic() + 180
    while not member.assignment() and time.monotonic() < deadline:
        member.poll(0.1)
    members = admin.group_members(group)
    assert [(client, host, partitions) for client, host, _, partitions in members] == [
        ("me", "/127.0.0.1", {(name, 0), (name, 1)})
    ]
    member.close()
    assert admin.group_members(group) == []


def test_a_client_is_dropped_once_its_late_answer_has_come(admin, topic_name):
    late: Future[None] = Future()
    admin._busy_clients.append((clients.admin({}), late))  # the caller's time was over
    assert admin.group_members(topic_name("group")) == []
    assert [answer for _, answer in admin._busy_clients] == [late]
    late.set_result(None)
    assert admin.group_members(topic_name("group")) == []
    assert admin._busy_clients == []


def test_end_offsets_are_right_or_refused_while_the_broker_dies(admin, source_broker, topic_name):
    name = topic_name()
    admin.create(name, 3, 1)
    producer = Producer({"bootstrap.servers": source_broker.bootstrap})
    for number in range(30):
        producer.produce(name, b"x", partition=number % 3)
    producer.flush()
    expected = {(name, partition): 10 for partition in range(3)}
    seen: Counter[str] = Counter()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                found = admin.partition_offsets(expected, "latest", 1)
                seen["right" if found == expected else str(found)] += 1
            except RetriableError:
                seen["refused"] += 1

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        known = seen["right"]
        wait_until(lambda known=known: seen["right"] > known, 180, lambda: f"it is reached again; {seen}")
        source_broker.kill()
        source_broker.start()
    stop.set()
    for thread in threads:
        thread.join(120)
    assert set(seen) == {"right", "refused"}
    assert admin.partition_offsets(expected, "latest", 60) == expected


def test_calls_go_on_after_a_time_without_registered_brokers(
    admin: Admin, source_broker: Broker, topic_name: Callable[[str], str]
):
    """A frozen broker loses its session with the controller (9 s). Until it registers again, the metadata names no broker, and
    librdkafka forgets the controller.
    """
    topic, pid = topic_name("frozen"), source_broker.pid
    admin.create(topic, 1, 1)
    admins = [Admin({"bootstrap.servers": source_broker.bootstrap}) for _ in range(16)]
    assert pid is not None and all(client.partition_counts() for client in admins)

    def ask_from(moment_s: float, client: Admin) -> bool:
        threading.Event().wait(moment_s)
        return topic in client.partition_counts() and client.describe(topic, 120) is not None

    os.kill(pid, signal.SIGSTOP)
    threading.Event().wait(11)
    os.kill(pid, signal.SIGCONT)
    with ThreadPoolExecutor(len(admins)) as pool:
        assert all(pool.map(ask_from, [n / 50 for n in range(len(admins))], admins))


def test_an_absent_topic_is_a_retriable_failure(admin, topic_name):
    for call in (lambda name: admin.partition_offsets([(name, 0)], "latest", 5), lambda name: admin.topic_configs(name)):
        with pytest.raises(KafkaFailure, match=r"This server does not host this topic-partition\.") as raised:
            call(topic_name())
        assert raised.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
        assert isinstance(raised.value, RetriableError)


def test_facts_of_the_cluster(admin, source_broker):
    assert admin.cluster_id() == source_broker.cluster_id
    assert admin.broker_count() == 1


def test_how_long_a_connection_was_tried_and_how_often_it_was_refused_is_left_out():
    diagnosis = ConnectionDiagnosis({"bootstrap.servers": "b:1"})
    for suffix in ("(after 0ms in state CONNECT)", "(after 12ms in state CONNECT, 4 identical error(s) suppressed)"):
        text = f"b:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused {suffix}"
        diagnosis.on_error(KafkaError(KafkaError._TRANSPORT, text))
        assert "failed: Connection refused. Check" in diagnosis.failure(TimeoutError(), 8).message


CALLS = {
    "cluster_id": lambda admin: admin.cluster_id(8),
    "topics": lambda admin: admin.topics(8),
    "describe": lambda admin: admin.describe("x", 8),
    "create": lambda admin: admin.create("x", 1, 1, timeout_s=8),
    "partition_offsets": lambda admin: admin.partition_offsets([("x", 0)], "latest", 8),
    "committed": lambda admin: admin.committed("g", 8),
    "topic_configs": lambda admin: admin.topic_configs("x", timeout_s=8),
}


@pytest.fixture(scope="module")
def unreached() -> Iterator[dict[str, Future[bool]]]:
    """Of each call to a cluster that is away: whether it ended before one without a limit, or what it raised.

    All are made at once, by clients of their own.
    """
    unlimited = threading.Thread(target=_cluster_id, daemon=True)  # it has 30 s, for which nobody waits
    unlimited.start()

    def refused(call: Callable[[Admin], object]) -> bool:
        with pytest.raises(RetriableError) as raised:
            call(Admin({"bootstrap.servers": UNREACHABLE}))
        in_time = unlimited.is_alive()
        assert str(raised.value) == (
            f"Could not reach the Kafka cluster at '{UNREACHABLE}' within 8 s: Connect to ipv4#127.0.0.1:1 failed: "
            "Connection refused. Check bootstrap.servers and security.protocol, and that the brokers are up."
        )
        return in_time

    with ThreadPoolExecutor(len(CALLS)) as pool:
        yield {name: pool.submit(refused, call) for name, call in CALLS.items()}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.slow
def test_an_unreachable_cluster_is_one_clear_sentence_in_time(call, unreached):
    assert unreached[call].result(), "it took the 30 s that a call has by default"


def _cluster_id() -> None:
    with contextlib.suppress(RetriableError):
        Admin({"bootstrap.servers": UNREACHABLE}).cluster_id()


@pytest.mark.slow
def test_nothing_is_printed_about_an_unreachable_cluster():
    program = f"""
import logging
from headrace.embedded import Broker
from headrace.errors import RetriableError
from headrace.kafka import clients
from headrace.kafka.admin import Admin
logging.disable()  # what is logged is the application's to show
try:
    Admin({{"bootstrap.servers": "{UNREACHABLE}"}}).cluster_id(1)
except RetriableError:
    print("unreachable")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=240)
    assert (ended.stdout, ended.stderr) == ("unreachable\n", "")


def test_topics_that_many_create_at_once_succeed_or_fail_each_by_itself(admin: Admin, topic_name: Callable[[str], str]):
    names = [topic_name(f"many-{n}") for n in range(20)]
    wanted = [(name, 1) for name in (*names, *names[:5])]
    wanted += [(topic_name("large"), 20_000), (topic_name("none"), 0), ("not/a/name", 1)]

    def create(topic: tuple[str, int]) -> str:
        try:
            admin.create(*topic, 1)
        except KafkaFailure as failure:
            return failure.code
        return "created"

    with ThreadPoolExecutor(len(wanted)) as pool:
        results = list(pool.map(create, wanted))
    assert results.count("created") == 20 and results.count("TOPIC_ALREADY_EXISTS") == 5
    assert admin.find(names).keys() == set(names)
    assert results[-3:] == ["POLICY_VIOLATION", "INVALID_PARTITIONS", "INVALID_TOPIC_EXCEPTION"]


def test_a_wrong_password_is_told_from_an_absent_broker(secured):
    admin = Admin(secured.props(password="hunter2"))
    with pytest.raises(KafkaFailure) as raised:
        admin.cluster_id(8)
    assert raised.value.code == "SASL_AUTHENTICATION_FAILED"
    assert "did not let this client in" in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_a_right_password_lets_in_and_a_missing_permission_has_a_name(secured):
    admin = Admin(secured.props())
    assert admin.cluster_id() == secured.broker.cluster_id
    with pytest.raises(KafkaFailure) as raised:
        admin.create("forbidden", 1, 1)
    assert raised.value.code == "TOPIC_AUTHORIZATION_FAILED"
    assert admin.topics() == {}


def test_whether_a_topic_exists_that_may_not_be_described_is_not_known(secured):
    config = {"connector.class": "FileStreamSource", "topic": "hidden", "file": "/lines"}
    preview = prepared(config, **{key.replace(".", "_"): value for key, value in secured.props().items()})
    assert [topic["exists"] for topic in planned_topics(preview, lambda: None)["topics"]] == [None]
