"""What cannot run is refused in one sentence, before a broker is asked."""

from __future__ import annotations

import pytest

from headrace.errors import ConfigError, StreamsError
from headrace.streams import Consumed, KafkaStreams, Serdes, Stores, StreamsBuilder
from headrace.streams.states import State

NOWHERE = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "max.poll.interval.ms": "1000"}


@pytest.mark.parametrize(
    ("consumed", "settings", "sentence"),
    [
        (Consumed(), {}, r"Failed to configure key serde: source KSTREAM-SOURCE-0000000000 has none\."),
        (Consumed(), {"default.key.serde": "string"}, r"Failed to configure value serde: source KSTREAM-SOURCE-0000000000 has"),
        (Consumed.with_(Serdes.string(), Serdes.string()), {"spark.master": "spark://elsewhere:7077"},
         r"spark\.master has to be local\[…\], not spark://elsewhere:7077\."),
    ],
)  # fmt: skip
def test_an_application_that_cannot_run_is_refused_before_a_broker_is_asked(consumed, settings, sentence):
    builder = StreamsBuilder()
    builder.stream("in", consumed).group_by(lambda key, value: value).count()
    streams = KafkaStreams(builder.build(), {**NOWHERE, **settings})
    with pytest.raises(ConfigError, match=sentence):
        streams.start()
    assert streams.state() is State.CREATED


def test_so_is_one_with_a_store_of_a_processor_without_serdes():
    builder = StreamsBuilder()
    builder.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("kept"), None, None))
    builder.stream("in", Consumed.with_(Serdes.string(), Serdes.string())).process(object, "kept")
    streams = KafkaStreams(builder.build(), NOWHERE)
    with pytest.raises(ConfigError, match=r"The store kept has no serde of keys or values: give its builder both"):
        streams.start()
    assert streams.state() is State.CREATED


@pytest.mark.parametrize("serde", [Serdes.avro, Serdes.protobuf, Serdes.json_schema])
def test_a_serde_of_a_registry_takes_texts(serde):
    for schema in ({"type": "int"}, "", " ", None):
        with pytest.raises(StreamsError, match=r"The schema of Serdes\.[a-z_]+\(…\) has to be a text: of a schema"):
            serde(schema, "http://nowhere")
    with pytest.raises(StreamsError, match=r"The option schema\.registry\.url of Serdes\.[a-z_]+\(…\) has to be a text"):
        serde("orders-value", {"schema.registry.url": ["http://nowhere"]})
    with pytest.raises(StreamsError, match=r"The registry of Serdes\.[a-z_]+\(…\) has to be a URL, or options"):
        serde("orders-value", None)
    assert hash(serde("orders-value", {"schema.registry.url": "http://nowhere", "max.retries": 5}))


def test_a_schema_of_json_is_a_text():
    with pytest.raises(StreamsError, match=r"The schema of Serdes\.json\(…\) has to be a text: a type as DDL"):
        Serdes.json({"a": 1})  # type: ignore[arg-type]
