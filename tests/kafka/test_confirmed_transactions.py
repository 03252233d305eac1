"""A transaction counts once its records have been read: those of one that did not stay committed are written again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Producer

from headrace.errors import RetriableError
from headrace.kafka import confirmed_transactions
from headrace.kafka.admin import Admin
from headrace.kafka.confirmed_transactions import write_confirmed
from headrace.kafka.log import CompactedLog


class Transactional:
    """Writes `1` first, then `2` and so on, each in a transaction that ends as said: `commit`, `abort`; `open`: not at all."""

    def __init__(self, bootstrap: str, topic: str, ends: list[str]) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 0})
        self._producer.init_transactions(120)
        self._topic, self._ends, self._open, self.writes = topic, ends, False, 0

    def write(self, _timeout_s: float) -> Mapping[int, int]:
        offsets: list[int | None] = []
        if not self._open:
            self._producer.begin_transaction()
        self._producer.produce(self._topic, str(self.writes + 1), on_delivery=lambda _, message: offsets.append(message.offset()))
        self._producer.flush(120)
        end = self._ends[self.writes]
        self._open = end == "open"
        if not self._open:
            getattr(self._producer, f"{end}_transaction")(120)
        if end == "commit":
            confirmed_transactions._READ_BACK_S = 60.0  # it is read, though it may be late; the fixture `log` takes it back
        self.writes += 1
        return {0: (offsets[0] or 0) + 1}


@pytest.fixture
def topic(source_broker, topic_name) -> str:
    name = topic_name("confirmed")
    Admin({"bootstrap.servers": source_broker.bootstrap}).create(name, 1, 1)
    return name


@pytest.fixture
def seen() -> list[bytes | None]:
    return []


@pytest.fixture
def log(source_broker, topic, seen, monkeypatch) -> Iterator[CompactedLog]:
    monkeypatch.setattr(confirmed_transactions, "_READ_BACK_S", 0.5)
    props = {"bootstrap.servers": source_broker.bootstrap}
    made = CompactedLog(topic, props, {**props, "isolation.level": "read_committed"}, lambda record: seen.append(record.value))
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        (["commit"], [b"1"]),
        (["abort", "commit"], [b"2"]),
        (["open", "commit"], [b"1", b"2"]),  # left undecided, it ends as the next one
        (["open", "abort", "commit"], [b"3"]),
    ],
)
def test_a_write_returns_when_its_records_have_been_read(
    source_broker, topic, log: CompactedLog, seen: list[bytes | None], ends: list[str], found: list[bytes]
) -> None:
    write_confirmed(Transactional(source_broker.bootstrap, topic, ends).write, log, 120)
    assert seen == found


def test_a_write_that_cannot_be_read_in_time_is_not_acknowledged(source_broker, topic, log, seen) -> None:
    producer = Transactional(source_broker.bootstrap, topic, ["open"] * 10)
    with pytest.raises(RetriableError, match="partition 0 is at offset 0 of"):
        write_confirmed(producer.write, log, 3)
    assert producer.writes > 1
    assert seen == []
