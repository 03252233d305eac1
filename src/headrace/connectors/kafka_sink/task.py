"""The task of the Kafka sink connector: batches to topics of another cluster, by Spark's Kafka writer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog

from headrace.connectors.base import Props
from headrace.connectors.kafka_sink.clients import ADMIN, PRODUCER
from headrace.connectors.kafka_sink.config import KafkaSinkConfig
from headrace.connectors.sink import SinkBatch, SinkTask
from headrace.kafka.admin import shared
from headrace.kafka.failures import KafkaFailure
from headrace.record import RecordColumns
from headrace.spark.destination_topic import look_up
from headrace.spark.kafka import producer_columns
from headrace.spark.topic_writer import TopicWriter, topics_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = structlog.get_logger(__name__)


class KafkaSinkTask(SinkTask):
    """Writes keys and values as the connector's converters make them: `ByteArrayConverter` leaves the bytes as they are.

    Timestamps are kept. A batch that is delivered again is written again (at least once), each partition in its order.
    """

    def start(self, props: Props) -> None:
        """Take the configuration; the target cluster is first asked when there is something to write. Raises ConfigError."""
        self._config = KafkaSinkConfig(props)
        self._admin = shared(ADMIN.settings(props))
        producer = {"client.id": f"connector-sink-producer-{self.context.id}"} | PRODUCER.settings(props)
        self._writer = TopicWriter(producer, lambda topic: look_up(self._admin, topic, self.context.stopping))

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
        from pyspark.sql import functions as F

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
            return topics_in(frame) - self._writer.known.keys()
        names = {self._config.destination_topics_prefix + topic for topic in batch.topics}
        return topics_in(frame, names - self._writer.known.keys())

    def _learn(self, topic: str, partitions: int) -> None:
        """Have a topic described, made if it has to be; one that somebody else is to make stays unknown until it is there."""
        if self._admin.describe(topic) is None:
            if not self._config.destination_topics_create:
                log.info("sink.topic.missing", topic=topic, hint="make it, or set destination.topics.create=true")
                return
            self._create(topic, partitions)
        self._writer.learn(topic)

    def _create(self, topic: str, partitions: int) -> None:
        try:
            self._admin.create(topic, partitions, self._config.destination_topics_replication_factor)
            log.info("sink.topic.created", topic=topic, partitions=partitions)
        except KafkaFailure as error:
            if error.code != "TOPIC_ALREADY_EXISTS":  # another task was faster
                raise
