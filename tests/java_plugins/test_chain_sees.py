"""What a transform in Java is given in a connector of headrace's own is what it is given in Kafka's of the same name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clusters import Cluster, record
from tests.deployed import CONNECTOR_S, Deployed
from tests.java_plugins.archives import DESCRIBE
from tests.java_plugins.test_source import records_of
from tests.support import wait_until

Create = Callable[..., Deployed]
CONNECT = "org.apache.kafka.connect."
BYTES, STRING = CONNECT + "converters.ByteArrayConverter", CONNECT + "storage.StringConverter"
JSON = CONNECT + "json.JsonConverter"
SAYS = {"transforms": "say", "transforms.say.type": DESCRIBE}
MANY = [
    record(b"k", b"1", [("h", b'"x"'), ("h", b"\xff"), ("h", None)]),
    record(None, b"2"),
    record(b"", None),
    record(b"k", b""),
]


def seen(cluster: Cluster, topic: str, count: int) -> list[tuple[bytes | None, bytes | None, list[str]]]:
    """Keys, values and what the transform has said, without the name of the topic."""
    found = records_of(cluster, topic, count)
    return [(r.key, r.value, [f"{k} {v}".replace(topic, "TOPIC") for k, v in r.headers]) for r in found]


def lines_of(file: Path, count: int) -> list[str]:
    """The lines of a file, once there are so many."""
    wait_until(lambda: file.exists() and len(file.read_text().splitlines()) >= count, CONNECTOR_S, f"{count} lines in {file}")
    return file.read_text().splitlines()


def mirrored(connector: Create, clusters: dict[str, str], topic: str, engine: str, **settings: str) -> str:
    """A mirror of a topic; returns the copy's name."""
    alias = f"{engine}{len(settings)}"
    connector(
        CONNECT + "mirror.MirrorSourceConnector", connector_engine=engine, source_cluster_alias=alias,
        target_cluster_alias="there", topics=topic, replication_factor="1", sync_topic_acls_enabled="false",
        **{"offset-syncs.topic.replication.factor": "1"}, **clusters, **SAYS, **settings,
        **{f"{part}.converter": BYTES for part in ("key", "value")},
    )  # fmt: skip
    return f"{alias}.{topic}"


def test_in_a_mirror_whose_headers_stay_as_they_are(
    connector: Create, cluster: Cluster, source: Cluster, topic_name: Callable[[str], str]
):
    topic = topic_name("mirrored")
    source.create(topic)
    source.produce(topic, MANY)
    clusters = {"source.cluster.bootstrap.servers": source.bootstrap, "target.cluster.bootstrap.servers": cluster.bootstrap}
    as_bytes = {"header_converter": BYTES, "transforms_say_into": "bytes"}
    both = [
        [
            (key, value, [line.replace("BYTES?", "BYTES") for line in said])
            for key, value, said in seen(cluster, mirrored(connector, clusters, topic, engine, **as_bytes), len(MANY))
        ]
        for engine in ("java", "auto")
    ]
    assert both[1] == both[0]
    plain = records_of(cluster, mirrored(connector, clusters, topic, "auto"), len(MANY))
    assert [header for header in plain[0].headers if header[0] == "h"] == MANY[0].headers


def test_in_a_file_source(connector: Create, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path):
    file = tmp_path / "lines"
    file.write_text("one\n\ntwo\n")
    both = []
    for engine in ("java", "auto"):
        topic = topic_name("lines")
        connector("FileStreamSource", connector_engine=engine, file=str(file), topic=topic, value_converter=STRING, **SAYS)
        both.append([(key, value, _without_time(said)) for key, value, said in seen(cluster, topic, 3)])
    assert both[1] == both[0]


def _without_time(said: list[str]) -> list[str]:
    return [" ".join("TIME" if word.startswith("17") and len(word) == 13 else word for word in line.split()) for line in said]


@pytest.mark.parametrize("converter", [BYTES, STRING, JSON], ids=lambda name: name.rpartition(".")[2])
def test_in_a_file_sink(connector: Create, cluster: Cluster, topic_name: Callable[[str], str], tmp_path: Path, converter: str):
    topic = topic_name("sunk")
    cluster.create(topic)
    schemas = {f"{part}.converter": converter for part in ("key", "value")}
    schemas |= {f"{part}.converter.schemas.enable": "false" for part in ("key", "value")}
    records = [r._replace(key=b"1" if r.key else r.key, value=r.value or None) for r in MANY] if converter == JSON else MANY
    cluster.produce(topic, [r for r in records if converter != JSON or r.key != b""])
    both = []
    for engine in ("java", "auto"):
        file = tmp_path / engine
        into = {"transforms.say.into": "value"}
        connector("FileStreamSink", connector_engine=engine, topics=topic, file=str(file), **schemas, **SAYS, **into)
        both.append(lines_of(file, cluster.size(topic)))
    assert both[1] == both[0]
