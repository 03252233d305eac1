"""Records in and out of Kafka through Spark's own source and sink.

Spark's sink writes topic, key, value, headers and partition, but no timestamp. A producer interceptor of headrace
(`jvm/java`, docs/decisions/0003) sets it: the last header of a record, `__headrace.timestamp`, carries the milliseconds as
text, and is taken off again before the record is sent.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog

from headrace.config.client_options import client_value
from headrace.kafka.groups import Partition
from headrace.kafka.positions import by_topic
from headrace.record import HEADERS_TYPE, RecordColumns
from headrace.spark.plane import in_driver
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

log = structlog.get_logger(__name__)

INTERCEPTOR = "io.headrace.TimestampInterceptor"
TIMESTAMP_HEADER = "__headrace.timestamp"
ORIGIN = "__origin_"
# Spark refuses these for its source or sets them itself (Structured Streaming + Kafka guide, "Kafka Specific Configurations").
_NOT_FOR_SOURCE = {
    "group.id", "auto.offset.reset", "key.deserializer", "value.deserializer", "enable.auto.commit", "interceptor.classes",
}  # fmt: skip
READ_AT_ONCE = {"max.poll.records": "10000"}
"""Records of a poll of Spark's consumer. Kafka's 500 cost a quarter of the throughput of small records."""
# A consumer that has read a batch asks for more at once, and at the end of the log the broker keeps that request for as long as
# this (Kafka: 500 ms). The next batch's requests wait behind it on the same connection, with one of the session's few slots.
_DEFAULTS = {"fetch.max.wait.ms": "20", **READ_AT_ONCE}
ONE_REQUEST = {"max.in.flight.requests.per.connection": "1"}
"""Default of producers: with more requests, a new partition can block a producer for ever (docs/decisions/0004)."""
_NOT_FOR_SINK = {"key.serializer", "value.serializer", "interceptor.classes", "transactional.id"}

Positions = Mapping[str, Mapping[int, int]]
_failed: Counter[str] = Counter()  # client.id of a producer -> writes that failed


def read_stream(spark: SparkSession, consumer: Mapping[str, str], positions: Positions, options: Mapping[str, str]) -> DataFrame:
    """A streaming DataFrame of the given partitions.

    consumer: Java consumer settings; positions: topic → partition → first offset to read; options: further
    options of Spark's source. Columns: key, value (binary), topic (string), partition (int), offset (long), timestamp
    (timestamp), timestampType (int), headers (array<struct<key string, value binary>>, NULL when there are none).
    """
    reader = (
        spark.readStream.format("kafka")
        .option("assign", json.dumps({t: sorted(p) for t, p in positions.items()}))
        .option("startingOffsets", offsets_json(positions))
        .option("includeHeaders", "true")
    )
    for key, value in (_DEFAULTS | dict(consumer)).items():
        if key not in _NOT_FOR_SOURCE:
            reader = reader.option(f"kafka.{key}", value)
    return reader.options(**options).load()


def read_batch(spark: SparkSession, consumer: Mapping[str, str], ranges: Mapping[Partition, tuple[int, int]]) -> DataFrame:
    """The records of these ranges of offsets (first, and the one after the last), of each partition in one Spark partition.

    consumer: Java consumer settings. Columns as of `read_stream`.
    """
    before = by_topic({p: start for p, (start, _) in ranges.items()})
    after = by_topic({p: end for p, (_, end) in ranges.items()})
    settings = with_api_timeout(consumer)
    reader = spark.read.format("kafka").options(
        assign=json.dumps({topic: sorted(parts) for topic, parts in before.items()}),
        startingOffsets=offsets_json(before),
        endingOffsets=offsets_json(after),
        includeHeaders="true",
        failOnDataLoss="true",
    )
    for key, value in (_DEFAULTS | settings).items():
        if key not in _NOT_FOR_SOURCE:
            reader = reader.option(f"kafka.{key}", value)
    return reader.option("kafkaConsumer.pollTimeoutMs", settings["default.api.timeout.ms"]).load()


def with_api_timeout(consumer: Mapping[str, str]) -> dict[str, str]:
    """Consumer settings with `default.api.timeout.ms`: how long Spark waits for a response, or an existing record.

    Kafka's one minute and Spark's two would block all partitions of a task for as long if one of them is deleted.
    """
    request = client_value("consumer", consumer, "request.timeout.ms")
    return {"default.api.timeout.ms": str(max(30_000, request)), **consumer}  # the admin client refuses less than for a request


def offsets_json(positions: Positions) -> str:
    """Positions in the JSON form of Spark's Kafka source: `{"topic":{"0":23}}`."""
    return json.dumps({t: {str(p): o for p, o in sorted(parts.items())} for t, parts in sorted(positions.items())})


def parse_offsets(text: str) -> dict[str, dict[int, int]]:
    """The reverse of `offsets_json`."""
    return {t: {int(p): int(o) for p, o in parts.items()} for t, parts in json.loads(text).items()}


def producer_columns(record: RecordColumns) -> list[Column]:
    """The columns of Spark's Kafka sink, the timestamp as the last header, then the origin's (which the sink ignores)."""
    empty = F.expr(f"cast(array() as {HEADERS_TYPE})")
    headers = empty if record.headers is None else F.coalesce(record.headers, empty)
    if record.timestamp is not None:
        millis = F.unix_millis(record.timestamp).cast("string").cast("binary")
        stamp = F.struct(F.lit(TIMESTAMP_HEADER).alias("key"), millis.alias("value"))
        headers = F.concat(headers, F.array(stamp))
    partition = F.lit(None).cast("int") if record.partition is None else record.partition
    columns = {"topic": record.topic, "key": record.key, "value": record.value, "headers": headers, "partition": partition}
    columns |= {ORIGIN + part: column for part, column in record.origin.items()}
    return [column.alias(name) for name, column in columns.items()]


def origin_columns(frame: DataFrame) -> list[str]:
    """The columns of a frame with the origin of a record (see `producer_columns`)."""
    return [column for column in frame.columns if column.startswith(ORIGIN)]


def sink_options(producer: Mapping[str, str]) -> dict[str, str]:
    """The options of Spark's Kafka sink for a producer with these Java settings, which sets timestamps (docs/decisions/0003)."""
    options = {f"kafka.{key}": value for key, value in {**ONE_REQUEST, **producer}.items() if key not in _NOT_FOR_SINK}
    return options | {"kafka.interceptor.classes": ",".join(filter(None, [INTERCEPTOR, producer.get("interceptor.classes")]))}


def write(frame: DataFrame, producer: Mapping[str, str]) -> None:
    """Write a batch of `producer_columns` and wait until every record is acknowledged.

    producer: Java producer settings. Raises Spark's errors (see `headrace.spark.failure`).
    """
    client_id, options = producer.get("client.id", ""), sink_options(producer)
    if _failed[client_id]:
        # Spark reuses a producer for the next write with the same settings, also a broken one.
        options["kafka.headrace.failed.writes"] = str(_failed[client_id])
    writer = frame.write.format("kafka").options(**options)
    try:
        writer.save()
    except BaseException:
        _failed[client_id] += 1
        abort(frame.sparkSession, options)
        raise


def abort(spark: SparkSession, options: Mapping[str, str]) -> None:
    """Close the producer (options: of the sink) of a failed or cancelled write, and drop its unsent records.

    Otherwise its records would still be written, beside those of the retry, as soon as the topic or the broker is back. Spark
    keeps its producers in the executors' processes; with a local master that is this JVM, and others cannot be reached.
    """
    if not is_local(spark):
        return
    jvm: Any = spark._jvm
    try:
        with java_producer(spark, options) as producer:
            producer.close(jvm.java.time.Duration.ZERO)
    except Exception as e:
        log.warning("producer.abort.failed", cause=str(e).splitlines()[0])


def is_local(spark: SparkSession) -> bool:
    """Whether Spark's tasks run in the driver's process."""
    return in_driver(spark.sparkContext.master or "")


@contextmanager
def java_producer(spark: SparkSession, options: Mapping[str, str]) -> Iterator[Any]:
    """The producer, Java's object, that Spark's sink writes with in this process (options: of the sink)."""
    jvm: Any = spark._jvm
    kafka = jvm.org.apache.spark.sql.kafka010
    scala = jvm.PythonUtils.toScalaMap(dict(options))
    given_options = _module(jvm.org.apache.spark.sql.catalyst.util, "CaseInsensitiveMap").apply(scala)
    settings = _module(kafka, "KafkaSourceProvider").kafkaParamsForProducer(given_options)
    pool = _module(kafka.producer, "InternalKafkaProducerPool")
    cached = pool.acquire(settings)
    try:
        yield cached.producer()
    finally:
        pool.release(cached)


def _module(package: Any, name: str) -> Any:
    """A singleton object of Scala."""
    return getattr(getattr(package, name + "$"), "MODULE$")
