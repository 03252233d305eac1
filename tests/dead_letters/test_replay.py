"""Dead letters on a real broker, of connectors that need not run."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from headrace.dead_letters.letter import Letter, LetterId
from headrace.dead_letters.replays import Replays
from headrace.dead_letters.topics import DeadLetterTopic, LetterTopic, ReplayRequest
from headrace.errors import BadRequestError, ConnectError, NotFoundError, RestError
from headrace.kafka.admin import Admin
from headrace.preview import live
from headrace.preview.live import read_ranges
from headrace.preview.records import RawRecord
from headrace.runtime.worker_config import WorkerConfig
from tests.clusters import Cluster, Sent, record
from tests.support import wait_until

JSON = "org.apache.kafka.connect.json.JsonConverter"
pytestmark = pytest.mark.usefixtures("interpreted")


def no_spark() -> Any:
    raise AssertionError("a sink's letters go back as they are")


def told(value: bytes, topic: str, offset: int, connector: str = "c", partition: int = 0) -> Sent:
    context = {"topic": topic, "partition": "0", "offset": str(offset), "connector.name": connector, "exception.message": "bad"}
    headers = [("h", b"x"), *((f"__connect.errors.{name}", text.encode()) for name, text in context.items())]
    return record(b"k", value, headers, partition=partition)  # type: ignore[arg-type]


@dataclass
class Place:
    """A topic, and the dead letter topic of a connector that reads it."""

    cluster: Cluster
    origin: str
    topic: str
    config: dict[str, str]
    others: dict[str, dict[str, str]] = field(default_factory=dict)
    """The other connectors that use the dead letter topic."""

    @property
    def letters(self) -> DeadLetterTopic:
        """As any worker sees it: nothing is kept between two of these."""
        worker = {"bootstrap.servers": self.cluster.bootstrap, "key.converter": JSON, "value.converter": JSON}
        return DeadLetterTopic(LetterTopic(self.topic, {"c": self.config, **self.others}), WorkerConfig(worker))

    def replay(self, *ids: str, spark: Callable[[], Any] = no_spark, **how: Any) -> list[tuple[str, str, str | None]]:
        request = ReplayRequest([LetterId.parse(text) for text in ids], **how)
        return [(letter["id"], letter["outcome"], letter["topic"]) for letter in self.letters.replay(request, spark)]


@pytest.fixture
def sink(destination: Cluster, topic_name: Callable[[str], str]) -> Place:
    """Two letters of a sink."""
    origin, topic = topic_name("orders"), topic_name("letters")
    config = {"connector.class": "FileStreamSink", "topics": origin, "errors.deadletterqueue.topic.name": topic}
    config |= {"errors.tolerance": "all", "errors.deadletterqueue.topic.replication.factor": "1"}
    destination.create(origin)
    destination.create(topic)
    destination.produce(topic, [told(b"one", origin, 4), told(b"two", origin, 5)])
    return Place(destination, origin, topic, config)


@pytest.fixture
def source(destination: Cluster, topic_name: Callable[[str], str]) -> Place:
    """Three letters of a source whose chain can do with the first one."""
    origin, topic = topic_name("orders"), topic_name("letters")
    config = {
        "connector.class": "org.apache.kafka.connect.kafka.KafkaSourceConnector", "source.bootstrap.servers": "localhost:1",
        "source.topic.whitelist": origin, "destination.topics.prefix": "copy.", "source.value.converter": JSON,
        "source.value.converter.schemas.enable": "false", "value.converter": JSON, "value.converter.schemas.enable": "false",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "transforms": "mask", "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
        "transforms.mask.fields": "a", "errors.deadletterqueue.topic.name": topic, "errors.tolerance": "all",
    }  # fmt: skip
    destination.create(f"copy.{origin}")
    destination.create(topic)
    destination.produce(topic, [told(b'{"a":1}', origin, 0), told(b"broken", origin, 1), told(b'{"a":2}', origin, 2)])
    return Place(destination, origin, topic, config)


def test_a_letter_of_a_sink_goes_back_once_whoever_is_asked(sink: Place):
    assert sink.replay("0:0", dry_run=True) == [("0:0", "ready", sink.origin)]
    assert sink.cluster.read(sink.origin, settled=True) == []
    assert sink.replay("0:0") == [("0:0", "replayed", sink.origin)]
    assert sink.replay("0:0", "0:1") == [("0:0", "already-replayed", sink.origin), ("0:1", "replayed", sink.origin)]
    assert [(outcome.key, outcome.value, outcome.headers) for outcome in sink.cluster.read(sink.origin, settled=True)] == [
        (b"k", b"one", [("h", b"x")]), (b"k", b"two", [("h", b"x")]),
    ]  # fmt: skip
    page = sink.letters.page(10, None)
    assert [(letter["id"], letter["replayed"]["topic"]) for letter in page["letters"]] == [
        ("0:1", sink.origin),
        ("0:0", sink.origin),
    ]
    assert sink.replay("0:0", again=True) == [("0:0", "replayed", sink.origin)]
    assert len(sink.cluster.read(sink.origin, settled=True)) == 3


def test_a_replay_that_another_one_overtook_writes_nothing(sink: Place):
    props = {"bootstrap.servers": sink.cluster.bootstrap}
    replays = Replays(sink.topic, props, props, Admin(props))

    def overtaken(_marks: Any) -> dict[LetterId, RawRecord]:
        assert sink.replay("0:0") == [("0:0", "replayed", sink.origin)]
        return {LetterId(0, 0): RawRecord(sink.origin, 0, 0, None, b"k", b"twice")}

    with pytest.raises(RestError, match="has begun meanwhile; nothing was written"):
        replays.write(overtaken)
    assert [outcome.value for outcome in sink.cluster.read(sink.origin, settled=True)] == [b"one"]


def test_a_replay_that_fails_leaves_no_open_transaction_behind(sink: Place, topic_name: Callable[[str], str]):
    props, small = {"bootstrap.servers": sink.cluster.bootstrap}, topic_name("small")
    sink.cluster.create(small, configs={"max.message.bytes": "1000"})
    replays = Replays(sink.topic, props, props, Admin(props))
    written = {
        LetterId(0, 0): RawRecord(sink.origin, 0, 0, None, b"k", b"one"),
        LetterId(0, 1): RawRecord(small, 0, 0, None, b"k", random.Random(1).randbytes(5000)),
    }
    with pytest.raises(ConnectError, match=r"larger|too large|size"):
        replays.write(lambda _marks: written)
    place, admin = (sink.origin, 0), Admin(props)

    def ended() -> bool:
        end, stable = (admin.partition_offsets([place], "latest", read_committed=committed)[place] for committed in (False, True))
        return end == stable

    wait_until(ended, 45, "nobody waits for the end of a transaction")  # which ends by itself after a minute
    assert sink.cluster.read(sink.origin) == [] and replays.marks() == {}


def test_the_marks_are_of_the_topic_and_not_of_its_name(sink: Place):
    sink.replay("0:0")
    sink.cluster.admin.delete([sink.topic])
    sink.cluster.create(sink.topic)
    sink.cluster.produce(sink.topic, [told(b"new", sink.origin, 9)])
    assert sink.replay("0:0") == [("0:0", "replayed", sink.origin)]


def test_a_letter_goes_back_only_to_a_topic_that_its_sink_reads(sink: Place):
    sink.cluster.produce(sink.topic, [told(b"x", "payments", 0), record(b"k", b"bare")])
    refused = sink.letters.replay(ReplayRequest([LetterId(0, 2), LetterId(0, 3)]), no_spark)
    assert [letter["outcome"] for letter in refused] == ["refused", "refused"]
    assert "does not read 'payments'" in refused[0]["message"] and "context.headers.enable" in refused[1]["message"]
    with pytest.raises(NotFoundError, match="has no dead letter 0:99"):
        sink.replay("0:99")
    sink.cluster.produce(sink.topic, [told(b"x", sink.origin, 0, connector="gone")])
    with pytest.raises(BadRequestError, match="Connector 'gone' does not exist"):
        sink.replay("0:4")


def test_a_letter_is_of_the_connector_that_it_names_whichever_is_asked_for(sink: Place):
    sink.others = {"other": sink.config | {"topics": "payments"}}
    sink.cluster.produce(sink.topic, [told(b"bare", sink.origin, 9, connector="gone")])
    assert sink.replay("0:0", connector="other", dry_run=True) == [("0:0", "ready", sink.origin)]
    (refused,) = sink.letters.replay(ReplayRequest([LetterId(0, 2)], "other", dry_run=True), no_spark)
    assert (refused["outcome"], "does not read" in refused["message"]) == ("refused", True)
    with pytest.raises(BadRequestError, match="These dead letters are of 'c', 'other'"):
        sink.letters.preview([LetterId(0, 0), LetterId(0, 2)], "other", None, no_spark)
    with pytest.raises(BadRequestError, match="These dead letters are of 'c': "):
        sink.letters.preview([LetterId(0, 0)], "other", sink.config, no_spark)


def test_letters_of_a_source_go_through_its_chain(source: Place, spark: SparkSession):
    results = source.letters.replay(ReplayRequest([LetterId(0, 0), LetterId(0, 1)]), lambda: spark)
    assert [(letter["outcome"], letter["topic"]) for letter in results] == [
        ("replayed", f"copy.{source.origin}"),
        ("failed", None),
    ]
    assert "still fails, at input.value" in results[1]["message"]
    (copy,) = source.cluster.read(f"copy.{source.origin}", settled=True)
    assert (copy.key, copy.value) == (b"k", b'{"a":0}')


def test_letters_of_a_mirror_go_through_its_chain_to_its_copy_of_the_topic(source: Place, spark: SparkSession):
    bytes_ = "org.apache.kafka.connect.converters.ByteArrayConverter"
    source.config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector", "source.cluster.alias": "eu",
        "source.cluster.bootstrap.servers": "localhost:1", "target.cluster.bootstrap.servers": source.cluster.bootstrap,
        "topics": source.origin, "key.converter": bytes_, "value.converter": bytes_, "errors.tolerance": "all",
        "transforms": "from", "transforms.from.type": "org.apache.kafka.connect.transforms.InsertHeader",
        "transforms.from.header": "via", "transforms.from.value.literal": "replay",
        "errors.deadletterqueue.topic.name": source.topic, "provenance.headers.enabled": "true",
    }  # fmt: skip
    source.cluster.create(f"eu.{source.origin}")
    assert source.replay("0:0", spark=lambda: spark) == [("0:0", "replayed", f"eu.{source.origin}")]
    (copy,) = source.cluster.read(f"eu.{source.origin}", settled=True)
    assert (copy.key, copy.value) == (b"k", b'{"a":1}')
    assert [name for name, _ in copy.headers] == ["h", "mirror.provenance", "via"]
    assert source.replay("0:0", spark=lambda: spark) == [("0:0", "already-replayed", f"eu.{source.origin}")]


def test_a_letter_of_a_spark_sink_goes_back_to_its_topic(sink: Place):
    sink.config = {
        "connector.class": "headrace.connectors.SparkSinkConnector", "topics": sink.origin, "format": "json",
        "option.path": "/nowhere", "errors.deadletterqueue.topic.name": sink.topic, "errors.tolerance": "all",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }  # fmt: skip
    assert sink.replay("0:1") == [("0:1", "replayed", sink.origin)]
    assert [outcome.value for outcome in sink.cluster.read(sink.origin, settled=True)] == [b"two"]


def test_a_changed_chain_is_previewed_on_letters_and_writes_nothing(source: Place, spark: SparkSession):
    changed = source.config | {"transforms": ""}
    preview = source.letters.preview([LetterId(0, 2), LetterId(0, 1)], None, changed, lambda: spark)
    assert [(letter["input"]["offset"], letter["outcome"]) for letter in preview["records"]] == [(2, "passed"), (1, "failed")]
    assert preview["records"][0]["output"]["value"] == '{"a":2}'
    assert source.cluster.read(f"copy.{source.origin}", settled=True) == []


def test_pages_lead_through_all_letters_once_newest_first_and_hold_their_beginnings(
    destination: Cluster, topic_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    topic = topic_name("letters")
    destination.create(topic, 2)
    sent = [told(b"%d" % n, "o", n, partition=n % 2)._replace(timestamp=1_700_000_000_000 + n * 7 % 11) for n in range(11)]
    destination.produce(topic, [*sent[:-1], sent[-1]._replace(value=b"x" * 100_000)])
    place = Place(destination, "o", topic, {"connector.class": "FileStreamSink", "topics": "o"})
    held: list[int] = []

    def read(*of: Any) -> list[Letter]:
        letters = read_ranges(*of)
        held.extend(len(letter.record.value or b"") for letter in letters)
        return letters

    monkeypatch.setattr(live, "read_ranges", read)
    ids, before = [], None
    while True:
        page = place.letters.page(3, before)
        assert len(page["letters"]) <= 3
        assert (page["counted"], page["counted_all"], sum(letter["records"] for letter in page["reasons"])) == (11, True, 11)
        ids += [letter["id"] for letter in page["letters"]]
        if (before := page["before"]) is None:
            break
    assert sorted(ids) == sorted([f"{n % 2}:{n // 2}" for n in range(11)])
    assert place.letters.summary()["records"] == 11
    assert max(held) < 9000  # of all letters that are read for one page


def test_letters_behind_transactions_that_were_aborted_are_found(destination: Cluster, topic_name: Callable[[str], str]):
    topic = topic_name("letters")
    destination.create(topic)
    producer = Producer({"bootstrap.servers": destination.bootstrap, "transactional.id": topic})
    producer.init_transactions(120)
    for n, end in enumerate((producer.commit_transaction, *[producer.abort_transaction] * 5)):
        producer.begin_transaction()
        for offset in (2 * n, 2 * n + 1):
            sent = told(b"%d" % offset, "o", offset)
            producer.produce(topic, sent.value, sent.key, 0, headers=[*sent.headers])
        producer.flush()
        end(120)
    destination.read(topic, settled=True)  # the marks are in it
    letters = Place(destination, "o", topic, {"connector.class": "FileStreamSink", "topics": "o"}).letters
    pages = [letters.page(1, None)]
    while before := pages[-1]["before"]:
        pages.append(letters.page(1, before))
    assert [[letter["id"] for letter in page["letters"]] for page in pages] == [["0:1"], ["0:0"]]
    assert [letter["id"] for letter in letters.page(4, None)["letters"]] == ["0:1", "0:0"]
