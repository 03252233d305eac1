"""Every connector of headrace passes the suite that authors of connectors inherit."""

from __future__ import annotations

import pytest

from headrace import plugins
from headrace.connectors.file_stream.sink import FileStreamSinkConnector
from headrace.connectors.file_stream.source import FileStreamSourceConnector
from headrace.connectors.kafka_sink.connector import KafkaSinkConnector
from headrace.connectors.kafka_source.connector import KafkaSourceConnector
from headrace.connectors.mirror.checkpoint_connector import MirrorCheckpointConnector
from headrace.connectors.mirror.heartbeat import MirrorHeartbeatConnector
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.connectors.spark_sink.connector import SparkSinkConnector
from headrace.connectors.spark_source.connector import SparkSourceConnector
from headrace.plugins import Kind
from headrace.testing.acceptance import ConnectorAcceptance

CLUSTERS = {"name": "m", "source.cluster.alias": "a", "target.cluster.alias": "b", "source.cluster.bootstrap.servers": "a:9092",
            "target.cluster.bootstrap.servers": "b:9092"}  # fmt: skip


def test_a_class_method_that_is_overridden_by_a_plain_function_is_an_error_where_it_stands() -> None:
    with pytest.raises(TypeError, match=r"Own\.settings_for_new_topic has to be a class method \(@classmethod\)\."):

        class Own(FileStreamSourceConnector):
            def settings_for_new_topic(cls, config, settings, cluster_size):  # type: ignore[no-untyped-def] # noqa: N805
                return settings


class TestFileStreamSource(ConnectorAcceptance):
    connector = FileStreamSourceConnector
    config = {"name": "c", "connector.class": "FileStreamSource", "topic": "lines", "file": "/lines"}


class TestFileStreamSink(ConnectorAcceptance):
    connector = FileStreamSinkConnector
    config = {"name": "c", "connector.class": "FileStreamSink", "topics": "lines", "file": "/lines"}


class TestKafkaSource(ConnectorAcceptance):
    connector = KafkaSourceConnector
    config = {"name": "c", "connector.class": "KafkaSourceConnector", "source.bootstrap.servers": "a:9092",
              "source.topic.whitelist": "orders"}  # fmt: skip


class TestKafkaSink(ConnectorAcceptance):
    connector = KafkaSinkConnector
    config = {"name": "c", "connector.class": "KafkaSinkConnector", "topics": "orders", "target.bootstrap.servers": "b:9092"}


class TestMirrorSource(ConnectorAcceptance):
    connector = MirrorSourceConnector
    config = {**CLUSTERS, "connector.class": "MirrorSourceConnector"}


class TestMirrorCheckpoint(ConnectorAcceptance):
    connector = MirrorCheckpointConnector
    config = {**CLUSTERS, "connector.class": "MirrorCheckpointConnector"}


class TestMirrorHeartbeat(ConnectorAcceptance):
    connector = MirrorHeartbeatConnector
    config = {**CLUSTERS, "connector.class": "MirrorHeartbeatConnector"}


class TestSparkSource(ConnectorAcceptance):
    connector = SparkSourceConnector
    config = {"name": "c", "connector.class": "SparkSource", "topic": "rows", "format": "parquet", "option.path": "/rows"}


class TestSparkSink(ConnectorAcceptance):
    connector = SparkSinkConnector
    config = {"name": "c", "connector.class": "SparkSink", "topics": "rows", "format": "parquet", "option.path": "/rows"}


def test_every_connector_is_here() -> None:
    here = {case.connector for case in ConnectorAcceptance.__subclasses__()}
    assert {cls for cls in plugins.every(Kind.SOURCE, Kind.SINK) if cls.__module__.startswith("headrace.")} <= here
