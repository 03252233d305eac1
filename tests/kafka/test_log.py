from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import Producer

from headrace.background import in_background
from headrace.errors import ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import GroupOffsets
from headrace.kafka.log import CompactedLog, LogRecord


class Recorder:
    """Takes what a log reads; `latest` is what a compacted topic means."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def __call__(self, record: LogRecord) -> None:
        self.records.append(record)

    @property
    def latest(self) -> dict[bytes, bytes]:
        found = {r.key: r.value for r in self.records}
        return {key: value for key, value in found.items() if key is not None and value is not None}


@pytest.fixture(scope="module")
def admin(source_broker) -> Admin:
    return Admin({"bootstrap.servers": source_broker.bootstrap})


@pytest.fixture
def topic(admin, topic_name) -> str:
    name = topic_name("log")
    admin.create(name, 3, 1, {"cleanup.policy": "compact"})
    return name


@pytest.fixture
def open_log(source_broker, admin) -> Iterator[Callable[..., CompactedLog]]:
    opened: list[CompactedLog] = []

    def make(topic: str, on_record: Callable[[LogRecord], None], start: bool = True, **consumer: str) -> CompactedLog:
        props = {"bootstrap.servers": source_broker.bootstrap}
        log = CompactedLog(topic, props, {**props, **consumer}, on_record, admin=admin)
        opened.append(log)
        if start:
            log.start()
        return log

    yield make
    for log in opened:
        log.stop()


def entries(count: int) -> list[tuple[bytes, bytes | None]]:
    return [(b"k%d" % n, b"v%d" % n) for n in range(count)]


def test_what_was_written_before_is_read_at_start(topic, open_log):
    open_log(topic, Recorder()).write(entries(100), 120)
    seen = Recorder()
    log = open_log(topic, seen)
    assert seen.latest == dict(entries(100))
    assert log.partition_count == 3


def test_a_write_returns_when_it_has_been_read_back(topic, open_log):
    seen = Recorder()
    log = open_log(topic, seen)
    for number in range(20):
        log.write([(b"k", b"%d" % number)], 120)
        assert seen.latest[b"k"] == b"%d" % number
    log.write([(b"k", None)], 120)
    assert seen.latest == {}


def test_append_waits_for_acks_and_gives_the_positions(topic, open_log, admin):
    ends = open_log(topic, Recorder()).append(entries(120), 120)
    assert {(topic, p): end for p, end in ends.items()} == admin.partition_offsets([(topic, p) for p in range(3)], "latest")


def test_records_of_others_are_there_after_reading_to_the_end(topic, open_log):
    seen = Recorder()
    reader = open_log(topic, seen)
    writer = open_log(topic, Recorder())
    for number in range(20):
        writer.append([(b"a%d" % number, b"x"), (b"b%d" % number, b"x")], 120)
        reader.read_to_end(120)
        assert b"a%d" % number in seen.latest
        assert b"b%d" % number in seen.latest


def test_a_records_partition_is_the_murmur2_of_its_key(open_log, admin, topic_name):
    name = topic_name("log")
    admin.create(name, 5, 1, {"cleanup.policy": "compact"})
    seen = Recorder()
    keys = {b"status-connector-s": 0, b"status-task-s-0": 2, b"status-topic-t:connector-s": 4, b"status-connector-x": 3}
    open_log(name, seen).write([(key, b"v") for key in keys], 120)
    assert {r.key: r.partition for r in seen.records} == keys  # as recorded from Connect in conformance/topics


def test_a_handler_that_fails_loses_only_that_record(topic, open_log, caplog):
    seen = Recorder()

    def handler(record: LogRecord) -> None:
        if record.key == b"k1":
            raise ValueError("cannot take it")
        seen(record)

    log = open_log(topic, handler)
    log.write(entries(3), 120)
    log.write([(b"k9", b"v9")], 120)
    assert set(seen.latest) == {b"k0", b"k2", b"k9"}
    assert "record.skipped" in caplog.text


def test_a_handler_may_send_but_not_wait(topic, open_log):
    failed: list[BaseException] = []
    answered = threading.Event()

    def handler(record: LogRecord) -> None:
        if record.key != b"k":
            answered.set()
            return
        log.send(b"answer", b"x")
        try:
            log.read_to_end(1)
        except RuntimeError as error:
            failed.append(error)

    log = open_log(topic, handler)
    log.write([(b"k", b"v")], 120)
    assert answered.wait(120)
    assert "waits for itself" in str(failed[0])


def test_an_open_transaction_is_waited_for(topic, open_log, source_broker):
    seen = Recorder()
    log = open_log(topic, seen, **{"isolation.level": "read_committed"})
    producer = Producer({"bootstrap.servers": source_broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    producer.begin_transaction()
    producer.produce(topic, b"t", b"k", partition=0)
    producer.flush()
    with pytest.raises(RetriableError, match="within 3 s: partition 0 is at offset 0 of 1"):
        log.read_to_end(3)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(log.read_to_end, 120, 3)  # the broker answers sooner
        with pytest.raises(TimeoutError):
            read.result(4)
        producer.commit_transaction()
        read.result(120)
    assert seen.latest == {b"k": b"t"}


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_markers_of_transactions_at_the_end_are_passed(topic, open_log, source_broker, level):
    seen = Recorder()
    log = open_log(topic, seen, **{"isolation.level": level})
    producer = Producer({"bootstrap.servers": source_broker.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    end = 0
    for finish in (producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        producer.produce(topic, b"v", finish.__name__.encode(), partition=0)
        producer.flush()
        finish()
        end += 2  # the record and the marker
        log.read_to({0: end}, 120)
        log.read_to_end(120)
    expected = {b"commit_transaction"} | ({b"abort_transaction"} if level == "read_uncommitted" else set())
    assert set(seen.latest) == expected


def test_an_absent_topic_is_said_in_connects_words(open_log, topic_name):
    name = topic_name("absent")
    log = open_log(name, Recorder(), start=False)
    with pytest.raises(ConnectError, match=f"Could not look up partition metadata for topic '{name}' in the allotted period"):
        log.start(timeout_s=1)


def test_a_topic_that_appears_later_is_waited_for(open_log, admin, topic_name):
    name, seen = topic_name("late"), Recorder()
    log = open_log(name, seen, start=False)
    starting = threading.Thread(target=log.start)
    starting.start()
    admin.create(name, 1, 1, {"cleanup.policy": "compact"})
    starting.join(120)
    log.write(entries(1), 120)
    assert seen.latest == dict(entries(1))


def test_writers_side_by_side_lose_nothing(topic, open_log):
    seen = Recorder()
    log = open_log(topic, seen)

    def write(who: int) -> None:
        for number in range(50):
            log.write([(b"%d-%d" % (who, number), b"v")], 120)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert len(seen.latest) == 200


def test_stop_waits_for_what_was_sent_and_ends_the_threads(topic, open_log):
    before = set(threading.enumerate())
    log = open_log(topic, Recorder())
    futures = [log.send(key, value) for key, value in entries(500)]
    own = [thread for thread in set(threading.enumerate()) - before if topic in thread.name]
    log.stop()
    assert all(future.done() and future.exception() is None for future in futures)
    assert own and not any(thread.is_alive() for thread in own)
    with pytest.raises(RetriableError, match="is closed"):
        log.send(b"k", b"v")
    log.stop()


def test_a_log_that_is_stopped_while_it_starts_says_that_it_was_closed(topic, open_log):
    records = Recorder()
    log = open_log(topic, records, start=False)
    log.append(entries(1), 30)
    log.stop()
    with pytest.raises(RetriableError, match="was closed before it was read to its end"):
        log.start()
    assert records.records == []


def test_an_idle_log_costs_next_to_no_cpu(topic, source_broker):
    program = f"""
import threading, time
from headrace.kafka.log import CompactedLog
props = {{"bootstrap.servers": "{source_broker.bootstrap}"}}
log = CompactedLog("{topic}", props, props, lambda record: None)
log.start()
log.write([(b"k", b"v")], 120)
threading.Event().wait(0.5)
before = time.process_time()
threading.Event().wait(3)
print(time.process_time() - before)
log.stop()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=240)
    assert float(ended.stdout) < 0.6  # a fifth of a slow core; who never waits takes all of it


def test_a_large_topic_is_read_whole(topic, open_log):
    log = open_log(topic, Recorder())
    first = log.append([(b"key-0", b"x")], 240)
    log.append([(b"key-%d" % n, b"x" * 100) for n in range(100_000)], 240)
    log.read_to_end(240)
    assert log.read_back(first, 240), "it was there, however many have followed it"
    seen = Recorder()
    open_log(topic, seen)
    assert len(seen.latest) == 100_000


def test_a_broker_restart_is_survived(topic, open_log, source_broker):
    seen = Recorder()
    log = open_log(topic, seen)
    log.write(entries(3), 120)
    source_broker.restart()
    log.write([(b"after", b"v")], 60)
    log.read_to_end(120)
    assert set(seen.latest) == {*dict(entries(3)), b"after"}
    assert len(seen.records) == 4


def test_while_the_broker_is_away_calls_end_in_time_and_what_a_log_sends_arrives_later(
    topic, open_log, source_broker, topic_name
):
    seen = Recorder()
    log = open_log(topic, seen)
    log.write(entries(3), 120)
    props, name = {"bootstrap.servers": source_broker.bootstrap}, topic_name("group")
    group, patient_group = GroupOffsets(props, name), GroupOffsets(props, name)
    group.write({(topic, 0): 1}, 120)
    source_broker.kill()
    try:
        future = log.send(b"while-away", b"v")
        for timeouts in [(1, None), (300, 1)]:
            with pytest.raises(RetriableError):
                log.read_to_end(*timeouts)
        patient = in_background(lambda: patient_group.read([(topic, 0)], 180), "patient")
        # The write that is given up may still arrive, once the broker is back: it is the same as the one that follows.
        for call in (lambda: group.write({(topic, 0): 3}, 1), lambda: group.read([(topic, 0)], 1)):
            with pytest.raises(RetriableError, match="within 1 s"):
                call()
        assert not patient.done(), "each of these has ended in its own time"
    finally:
        source_broker.start()
    assert future.result(180).offset >= 0
    assert patient.result(180).keys() == {(topic, 0)}
    log.write([(b"after", b"v")], 60)
    log.read_to_end(120)
    assert set(seen.latest) == {*dict(entries(3)), b"while-away", b"after"}
    assert len(seen.records) == 5
    group.write({(topic, 0): 3}, 60)
    assert group.read([(topic, 0)], 60) == {(topic, 0): 3}
