"""The task of the Kafka sink connector: a feed of the data plane that writes to topics of another cluster."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import Props
from headrace.connectors.kafka_sink.clients import ADMIN, PRODUCER
from headrace.connectors.kafka_sink.config import KafkaSinkConfig
from headrace.connectors.sink import KafkaTarget, SinkBatch, SinkTask
from headrace.converters.base import Writers
from headrace.kafka.admin import shared
from headrace.kafka.coalesced_requests import silent_since
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.spark.destination_topic import DestinationTopic, look_up
from headrace.spark.kafka import producer_columns
from headrace.spark.topic_writer import TopicWriter, topics_in
from headrace.sql_functions import F
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)

_REQUEST_TIMEOUT_S = 30.0


class KafkaSinkTask(SinkTask):
    """Writes records one by one, by a lane of the data plane, or batches of them, where the chain takes many records at once.

    It writes keys and values as the connector's converters make them: `ByteArrayConverter` leaves the bytes as they are.

    Timestamps are kept. What is delivered again is written again (at least once), each partition in its order.
    """

    def start(self, props: Props) -> None:
        """Read the configuration; the target cluster is contacted at the first write. Raises ConfigError."""
        self._config = KafkaSinkConfig(props)
        self._admin = shared(ADMIN.settings(props))
        self._producer = PRODUCER.settings(props)
        client = {"client.id": f"connector-sink-producer-{self.context.id}"}
        self._writer = TopicWriter(client | self._producer, self._look_up)

    def writers(self, own: Writers) -> Writers:
        """The connector's converters, for topics of the target cluster."""
        return Writers(own.key, own.value, own.header, self._config.destination_topics_prefix)

    def lane_target(self) -> KafkaTarget:
        """The target cluster."""
        config, prefix = self._config, self._config.destination_topics_prefix
        written = {"topic": f"concat({lit(prefix)}, topic)"} if prefix else {}
        written |= {} if config.include_message_headers else {"headers": f"cast(NULL as {HEADERS_TYPE})"}
        written |= {"partition": "int(NULL)"} if config.destination_partition == "partitioner" else {}
        return KafkaTarget(
            producer=self._producer,
            written=written,
            ensure=self._ensure,
            renew=self._renew,
            look_up=self._look_up,
            topic=lambda topic: prefix + topic,
            silent_since_ms=partial(silent_since, self._admin),
            keeps_partition=config.destination_partition != "auto",
        )

    def put(self, batch: SinkBatch) -> None:
        """Write the batch; raises RetriableError while the target cluster cannot be reached."""
        prefix = self._config.destination_topics_prefix
        counts = {prefix + topic: count for topic, count in batch.partition_counts.items()}
        frame = self._frame(batch.frame)
        for topic in sorted(self._new(frame, batch)):
            self._learn(topic, counts.get(topic, -1))
        mode = self._config.destination_partition
        self._writer.write(self._writer.place(frame, counts if mode == "auto" else None), batch.summary)

    def _frame(self, frame: DataFrame) -> DataFrame:
        record = RecordColumns(
            topic=F.concat(F.lit(self._config.destination_topics_prefix), frame["topic"]),
            key=frame["key"],
            value=frame["value"],
            headers=frame["headers"] if self._config.include_message_headers else None,
            timestamp=F.timestamp_millis(frame["timestamp"]),
            partition=None if self._config.destination_partition == "partitioner" else frame["partition"],
            origin={
                "topic": frame["original_topic"],
                "partition": frame["original_partition"],
                "offset": frame["offset"],
            },
        )
        return frame.select(*producer_columns(record))

    def _new(self, frame: DataFrame, batch: SinkBatch) -> Iterable[str]:
        """The topics that have records in the batch and are not known yet."""
        if batch.topics is None:
            return topics_in(frame) - self._writer.descriptions.keys()
        names = {self._config.destination_topics_prefix + topic for topic in batch.topics}
        return topics_in(frame, names - self._writer.descriptions.keys())

    def _learn(self, topic: str, partitions: int) -> None:
        """Describe a topic, after creating it if allowed; otherwise it is unknown until it exists."""
        if self._ensure(topic, partitions):
            self._writer.learn(topic)

    def _ensure(self, topic: str, partitions: int) -> bool:
        """Whether a topic exists; it is created if allowed, else its metadata is requested, so that the cluster may create it."""
        if self._admin.describe(topic) is not None:
            return True
        if self._config.destination_topics_create:
            return self._create(topic, partitions)
        log.info("sink.topic.missing", topic=topic, hint="create it, or set destination.topics.create=true")
        self._admin.request_topic(topic, _REQUEST_TIMEOUT_S)
        return self._admin.describe(topic) is not None

    def _renew(self, topic: str, partitions: int) -> bool:
        if not self._config.destination_topics_create or self._admin.describe(topic) is not None:
            return False
        return self._create(topic, partitions)

    def _create(self, topic: str, partitions: int) -> bool:
        if self._admin.create(topic, partitions, self._config.destination_topics_replication_factor, exist_ok=True):
            log.info("sink.topic.created", topic=topic, partitions=partitions)
        return True

    def _look_up(self, topic: str) -> DestinationTopic:
        return look_up(self._admin, topic, self.context.stopping)
