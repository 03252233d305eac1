"""What cannot run is refused in one sentence, before a broker is asked."""

from __future__ import annotations

import pytest

from headrace.errors import ConfigError
from headrace.streams import Consumed, KafkaStreams, Serdes, StreamsBuilder
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
