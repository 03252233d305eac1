"""Applications whose registry accepts connections and answers nothing: they say what they wait for, and stop when told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace.background import in_background
from headrace.registry import request_wait
from headrace.streams import Consumed, KafkaStreams, Produced, Serdes, StreamsBuilder
from headrace.streams.states import State
from headrace.testing.registry import SchemaRegistry
from tests.clusters import Cluster, record
from tests.registry.silent import silent_server
from tests.streams.running.application import WAIT_S
from tests.support import captured_logs, wait_until

STOP_S = 180.0  # a registry that is silent would be waited for four minutes, again and again
SCHEMA: dict[str, Any] = {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}
RENAMED = {**SCHEMA, "doc": "another schema, which has an id of its own"}


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as registry:
        yield registry


class Copies:
    """An application that copies records of one schema, from and to topics of its own."""

    def __init__(self, cluster: Cluster, topic_name: Callable[[str], str]) -> None:
        self.cluster, self.id = cluster, topic_name("app")
        self.source, self.sink = topic_name("orders"), topic_name("copies")
        for topic in (self.source, self.sink):
            cluster.create(topic, 1)

    def streams(self, schema: str, url: str) -> KafkaStreams:
        orders, builder = Serdes.avro(schema, url), StreamsBuilder()
        stream = builder.stream(self.source, Consumed.with_(Serdes.string(), orders))
        stream.to(self.sink, Produced.with_(Serdes.string(), orders))
        config = {"application.id": self.id, "bootstrap.servers": self.cluster.bootstrap}
        return KafkaStreams(builder.build(config), config)


@pytest.fixture
def copies(destination: Cluster, topic_name: Callable[[str], str]) -> Copies:
    return Copies(destination, topic_name)


def stopped(streams: KafkaStreams) -> State:
    """The state after it was told to stop, and has stopped long before a registry that is silent would be given up."""
    in_background(streams.close, "close").result(STOP_S)
    return streams.state()


def await_told(logs: list[Any], beginning: str, url: str) -> None:
    sentence = f"{beginning}: The schema registry does not answer ({url})"
    wait_until(lambda: any(line["event"].startswith(sentence) for line in logs), WAIT_S, lambda: f"{sentence}, in {logs}")


def test_an_application_that_waits_at_its_start_says_so_and_stops_when_it_is_told(
    copies: Copies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_wait, "_REPORT_AFTER_S", 0.1)
    with silent_server() as url, captured_logs() as logs:
        streams = copies.streams("orders-value", url)
        streams.start()
        await_told(logs, "Waiting for schemas before the start", url)
        assert streams.state() is State.REBALANCING
        assert stopped(streams) is State.NOT_RUNNING


def test_an_application_whose_registry_falls_silent_stops_and_the_batch_is_done_by_the_next_one(
    copies: Copies, registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_wait, "_REPORT_AFTER_S", 0.1)
    url, text = registry.url, json.dumps(SCHEMA)
    written, unknown = (registry.register(f"{copies.sink}-value", schema) for schema in (SCHEMA, RENAMED))
    with captured_logs() as logs, copies.streams(text, url) as streams:
        streams.start()
        assert streams.wait_for(State.RUNNING, State.ERROR, timeout=WAIT_S * 1000)
        registry.stop()
        with silent_server(int(url.rpartition(":")[2])):
            copies.cluster.produce(copies.source, [record(b"k", b"\0" + unknown.to_bytes(4) + b"\x0a")])
            await_told(logs, "A batch waits for schemas", url)
            assert stopped(streams) is State.NOT_RUNNING
    registry.start()
    with copies.streams(text, url) as streams:
        streams.start()
        wait_until(lambda: copies.cluster.size(copies.sink) >= 1, WAIT_S, lambda: f"the record; {streams.error}")
    assert [one.value for one in copies.cluster.read(copies.sink)] == [b"\0" + written.to_bytes(4) + b"\x0a"]
