from __future__ import annotations

import pytest

from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.log import CompactedLog, LogRecord
from headrace.kafka.transactional_writer import PrivilegedWriteError, TransactionalWriter


@pytest.fixture
def topic(source_broker, topic_name) -> str:
    name = topic_name("fenced")
    Admin({"bootstrap.servers": source_broker.bootstrap}).create(name, 1, 1, {"cleanup.policy": "compact"})
    return name


@pytest.fixture
def props(source_broker) -> dict[str, str]:
    return {"bootstrap.servers": source_broker.bootstrap}


def test_writing_needs_a_claim(props, topic):
    with pytest.raises(PrivilegedWriteError, match="Cannot produce to config topic without claiming write privileges first"):
        TransactionalWriter(topic, props, topic).write([(b"k", b"v")], 120)


def test_a_successor_fences_off_the_one_before(props, topic):
    first, second = TransactionalWriter(topic, props, topic), TransactionalWriter(topic, props, topic)
    first.claim(120)
    assert first.write([(b"a", b"1"), (b"b", b"2")], 120) == {0: 2}
    second.claim(120)
    with pytest.raises(PrivilegedWriteError, match="Failed to perform fencable send to config topic") as raised:
        first.write([(b"a", b"old")], 120)
    assert isinstance(raised.value.__cause__, KafkaFailure)
    assert raised.value.__cause__.code in ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
    with pytest.raises(PrivilegedWriteError, match="without claiming"):
        first.write([(b"a", b"old")], 120)
    (end,) = second.write([(b"a", b"new")], 120).values()

    seen: list[LogRecord] = []
    log = CompactedLog(topic, props, {**props, "isolation.level": "read_committed"}, seen.append)
    log.start()
    log.read_to({0: end}, 120)
    log.stop()
    assert [(r.key, r.value) for r in seen] == [(b"a", b"1"), (b"b", b"2"), (b"a", b"new")]
    second.stop()
