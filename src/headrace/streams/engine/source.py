"""Reads ranges of offsets of a sub-topology's topics as typed records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from headrace.errors import ConfigError
from headrace.kafka.groups import Partition
from headrace.record import HEADERS_TYPE
from headrace.spark.kafka import READ_AT_ONCE, offsets_json
from headrace.sql_functions import F, Window
from headrace.streams.engine import formats
from headrace.streams.engine.columns import apply, column
from headrace.streams.engine.context import EXPIRED_PUT, LEFT_OUT
from headrace.streams.engine.flows import Flow, Records
from headrace.streams.engine.repartition_format import InternalFormat, format_of, unpacked
from headrace.streams.engine.sinks import SinkTopics
from headrace.streams.nodes import SourceNode
from headrace.streams.serdes import Serde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

log = structlog.get_logger(__name__)

_SET_TO_FAIL = (
    "Deserialization exception handler is set to fail upon a deserialization error. If you would rather have the streaming "
    "pipeline continue after a deserialization error, please set the deserialization.exception.handler appropriately."
)


def serdes_of(node: SourceNode, defaults: tuple[Serde | None, Serde | None]) -> tuple[Serde, Serde]:
    """The serdes of keys and values of a source. defaults: of the application. Raises ConfigError if it has none."""
    key, value = node.consumed.key_serde or defaults[0], node.consumed.value_serde or defaults[1]
    for serde, what in ((key, "key"), (value, "value")):
        if serde is None:
            raise ConfigError(
                f"Failed to configure {what} serde: source {node.name} has none. Please specify a {what} serde with "
                f"Consumed.with_(…), or set one through default.{what}.serde."
            )
    assert key is not None and value is not None
    return key, value


def is_unreadable(message: str) -> bool:
    """Whether this is the error of `deserialization.exception.handler=fail`."""
    return _SET_TO_FAIL in message


NEGATIVE_TIME = "#negative"
"""Why a record is skipped, in place of a store: Kafka leaves out what an extractor gives a time below 0."""
Ranges = Mapping[Partition, tuple[int, int]]
RAW = f"topic string, partition int, offset bigint, t bigint, key binary, value binary, headers {HEADERS_TYPE}"


def consumer(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of a consumer that reads ranges of offsets."""
    # A closing consumer waits for its last fetch, by default half a second. And reading a deleted topic must not create it.
    required = {"fetch.max.wait.ms": "10", "allow.auto.create.topics": "false"}
    return {**READ_AT_ONCE, **settings, **required}


class KafkaTopics:
    """Reads ranges of offsets from the application's cluster, without a group."""

    def __init__(self, spark: SparkSession, settings: Mapping[str, str]) -> None:
        """settings: of Java's consumers."""
        self._spark = spark
        self._options = {f"kafka.{key}": value for key, value in consumer(settings).items()}

    def read(self, ranges: Ranges) -> DataFrame:
        """The records, columns of `RAW`."""
        starts: dict[str, dict[int, int]] = {}
        ends: dict[str, dict[int, int]] = {}
        for (topic, partition), (start, end) in ranges.items():
            starts.setdefault(topic, {})[partition] = start
            ends.setdefault(topic, {})[partition] = end
        reader = self._spark.read.format("kafka").options(**self._options)
        reader = reader.option("assign", json.dumps({topic: sorted(partitions) for topic, partitions in starts.items()}))
        reader = reader.option("startingOffsets", offsets_json(starts)).option("endingOffsets", offsets_json(ends))
        frame = reader.option("includeHeaders", "true").load()
        time = F.unix_millis("timestamp").alias("t")
        return frame.select("topic", "partition", "offset", time, "key", "value", "headers")


@dataclass(frozen=True)
class SourceReader:
    """Reads sources."""

    topics: SinkTopics
    skips: bool
    """Skips records that cannot be read, instead of an error."""
    read: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By source, its topics on the cluster. The records of several topics are ordered by time."""
    dead_letter_topic: str | None = None
    """The topic for skipped records."""
    wall_clock: bool = False
    """Whether records of topics that are not internal have the time of the batch that reads them."""

    @property
    def numbers(self) -> dict[str, int]:
        """By topic, its number in its task: the order of records of the same time."""
        return {topic: number for number, topic in enumerate(topic for topics in self.read.values() for topic in topics)}

    @property
    def merged(self) -> bool:
        """Whether the task reads several topics."""
        return sum(map(len, self.read.values())) > 1

    def flow(self, node: SourceNode, raw: DataFrame, skip: Callable[[DataFrame, str], None] | None = None) -> Flow:
        """The records of a source. raw: of its topics; skip: called with the skipped rows, their `reason` among them, and with
        "" or `NEGATIVE_TIME`; None: they are logged at once.
        """
        skip = skip or _log_skipped
        internal_format = self._internal_format(node)
        key_serde, value_serde = self._serdes(node, internal_format)
        body, more = unpacked(internal_format.flow if internal_format else None)
        if internal_format is None:
            raw, key, bad_key = formats.read(raw, "key", key_serde)
            raw, value, bad_value = formats.read(raw, "value", value_serde)
        else:
            key, bad_key = formats.decoded(key_serde, F.col("key"), internal_format.key)
            value, bad_value = formats.decoded(value_serde, body, internal_format.value)
        if self.skips:
            reason = F.when(bad_key, _sentence("key", key_serde)).otherwise(_sentence("value", value_serde)).alias("reason")
            skip(raw.where(bad_key | bad_value).select("*", reason), "")
            raw = raw.where(~(bad_key | bad_value))
        else:
            key, value = _or_fail(key, bad_key, "key", key_serde), _or_fail(value, bad_value, "value", value_serde)
        if node.consumed.timestamp_extractor is not None:
            raw = _extracted(node, raw, key, value)
            skip(raw.where("t < 0"), NEGATIVE_TIME)
            raw = raw.where("t >= 0")
        elif self.wall_clock and internal_format is None:
            raw = raw.withColumn("t", F.unix_millis(F.current_timestamp()))
        place, depth, raw = self._place(node, raw)
        columns = [F.col("partition").alias("p"), key.alias("k"), value.alias("v"), "t", place.alias("o")]
        if internal_format and internal_format.flow is not Records:
            return internal_format.flow(raw.select(*columns, *more))  # type: ignore[call-arg]
        ordered = not self.merged or len(self.read[node.name]) == 1  # topics are read one after the other
        return Records(raw.select(*columns, F.col("headers").alias("h")), depth, ordered)

    def is_known(self, node: SourceNode) -> bool:
        """Whether the format of a source's topics is known."""
        internal = [topic for topic in node.topics if topic in self.topics.repartition]
        return all(topic in self.topics.internal_formats for topic in internal)

    def _internal_format(self, node: SourceNode) -> InternalFormat | None:
        if len(node.topics) == 1 and node.topics[0] in self.topics.repartition:
            return format_of(self.topics.internal_formats, node.topics[0])
        return None

    def _serdes(self, node: SourceNode, internal_format: InternalFormat | None) -> tuple[Serde, Serde]:
        if internal_format is not None:
            return internal_format.key_serde, internal_format.value_serde
        return serdes_of(node, self.topics.defaults)

    def _place(self, node: SourceNode, raw: DataFrame) -> tuple[Column, int, DataFrame]:
        """The place of a record in the order of its task: Kafka takes the topic whose next record is the oldest. No two records
        have the same one.
        """
        if not self.merged:
            return F.array("offset"), 1, raw
        so_far = Window.partitionBy("topic", "partition").orderBy("offset").rowsBetween(Window.unboundedPreceding, 0)
        raw = raw.withColumn("rt", F.max("t").over(so_far))
        topics = self.read[node.name]
        number = F.lit(self.numbers[topics[0]] if topics else 0).cast("bigint")
        if len(topics) > 1:
            number += F.array_position(F.array(*map(F.lit, topics)), F.col("topic")) - F.lit(1)
        return F.array(F.col("rt"), number, F.col("offset")), 3, raw


def log_skipped(places: Iterable[tuple[str, int, int, str]]) -> None:
    """Log skipped records, as `TaskRuntime.skipped` returns them."""
    for topic, partition, offset, store in places:
        if store in LEFT_OUT:
            log.warning(store, **{"store" if store == EXPIRED_PUT else "processor": topic}, partition=partition, time=offset)
        elif store == NEGATIVE_TIME:
            log.warning("Skipping record due to negative extracted timestamp.", topic=topic, partition=partition, offset=offset)
        elif store:
            log.warning("Skipping record for expired segment.", store=store, partition=partition, time=offset)
        else:
            log.warning("Skipping record due to deserialization error.", topic=topic, partition=partition, offset=offset)


def _log_skipped(bad: DataFrame, why: str) -> None:
    log_skipped((row[0], row[1], row[2], why) for row in bad.select("topic", "partition", "offset").limit(100).collect())


def _or_fail(value: Column, bad: Column, what: str, serde: Serde) -> Column:
    sentence = F.concat(_sentence(what, serde), F.lit(f" {_SET_TO_FAIL}"))
    return F.when(bad, F.raise_error(sentence)).otherwise(value)


def _sentence(what: str, serde: Serde) -> Column:
    """The error sentence of a record that its serde cannot read."""
    place = F.concat_ws("-", "topic", F.col("partition").cast("string"))
    wrong = F.lit(f" cannot be read by the {serde.name} serde.")
    return F.concat(F.lit(f"The {what} of the record at "), place, F.lit(" offset "), F.col("offset").cast("string"), wrong)


def _extracted(node: SourceNode, raw: DataFrame, key: Column, value: Column) -> DataFrame:
    extractor = node.consumed.timestamp_extractor
    assert extractor is not None
    time = column(apply(extractor, node.name, key, value, F.col("t"))).cast("bigint")
    sentence = F.concat(
        F.lit("Input record at "), F.concat_ws("-", "topic", F.col("partition").cast("string")), F.lit(" offset "),
        F.col("offset").cast("string"), F.lit(f" has no timestamp from the extractor of {node.name}."),
    )  # fmt: skip
    return raw.withColumn("t", F.coalesce(time, F.raise_error(sentence).cast("bigint")))
