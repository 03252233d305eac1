"""The records that a batch writes to sinks and repartition topics, and the formats of repartition topics for their readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.converters.base import without_schema_ids
from headrace.record import HEADERS_TYPE
from headrace.sql_functions import F
from headrace.streams.engine import formats
from headrace.streams.engine.columns import apply, checked, column, kind_of, union
from headrace.streams.engine.flows import Changes, Flow, Records, Regrouped, SubscriptionRegistrations, SubscriptionResponses
from headrace.streams.engine.repartition_format import InternalFormat, packed
from headrace.streams.nodes import SinkNode
from headrace.streams.serdes import RegistrySerde, Serde, WindowedSerde

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

COLUMNS = ("topic", "partition", "key", "value", "headers", "t")
"""`partition`: NULL where the producer chooses by the whole key; -n: by the key without its last n bytes, its window."""


@dataclass
class SinkTopics:
    """The topics of sinks: names, partitions, serdes and formats."""

    full_name: Callable[[str], str]
    """Returns the name of a topic on the cluster."""
    partitions: Callable[[str], int | None]
    """Returns the number of a topic's partitions."""
    defaults: tuple[Serde | None, Serde | None] = (None, None)
    """The default serdes of keys and values."""
    internal_formats: dict[str, InternalFormat] = field(default_factory=dict)
    """The formats of repartition topics, added when their sinks are compiled."""
    repartition: frozenset[str] = frozenset()
    """Repartition topics, without the application's id."""


@dataclass(frozen=True)
class RecordContext:
    """The context of a function that chooses a topic, as Columns (Kafka's RecordContext)."""

    timestamp: Column
    """In ms."""
    headers: Column
    partition: Column


def rows(inputs: Iterable[tuple[SinkNode, Flow]], topics: SinkTopics) -> list[DataFrame]:
    """The rows to be written, columns of `COLUMNS`: those of a topic in the order of their task, whichever sinks write to it.

    inputs: sinks with what they get, in the order in which they get a record. Raises StreamsError for a serde that does not fit.
    """
    by_topic: dict[object, list[tuple[SinkNode, Flow]]] = {}
    for node, flow in inputs:
        by_topic.setdefault(node.topic, []).append((node, flow))
    return [_in_order(together, topics) for together in by_topic.values()]


def _in_order(inputs: list[tuple[SinkNode, Flow]], topics: SinkTopics) -> DataFrame:
    if len(inputs) == 1:
        ((node, flow),) = inputs
        return _rows(node, flow, _sorted(flow), topics)
    frames = [
        _rows(node, flow, flow.frame, topics, F.col("p"), F.col("o"), F.lit(number).alias("n"))  # type: ignore[union-attr]
        for number, (node, flow) in enumerate(inputs)
    ]
    return union(frames).sortWithinPartitions("p", "o", "n").select(*COLUMNS)


def _rows(node: SinkNode, flow: Flow, frame: DataFrame, topics: SinkTopics, *more: Column) -> DataFrame:
    """frame: that of the flow; more: further columns."""
    frame = _as_records(flow, frame)
    kinds = kind_of(frame, "k"), kind_of(frame, "v")
    produced, internal = node.produced, isinstance(node.topic, str) and node.topic in topics.repartition
    key_serde = produced.key_serde or _default(topics.defaults[0], kinds[0], internal)
    value_serde = produced.value_serde or _default(topics.defaults[1], kinds[1], internal)
    if internal:
        key = formats.encoded(key_serde, F.col("k"), kinds[0], f"key of {node.name}")
        value = packed(type(flow), formats.encoded(value_serde, F.col("v"), kinds[1], f"value of {node.name}"))
    else:
        to = topics.full_name(node.topic) if isinstance(node.topic, str) else None
        frame, key = formats.written(frame, "k", "key", key_serde, kinds[0], to, f"key of {node.name}")
        frame, value = formats.written(frame, "v", "value", value_serde, kinds[1], to, f"value of {node.name}")
    if internal:
        assert isinstance(node.topic, str)
        through = Records if isinstance(flow, Changes) else type(flow)
        topics.internal_formats[node.topic] = InternalFormat(key_serde, kinds[0], value_serde, kinds[1], through)
    registered = [part for part, serde in (("key", key_serde), ("value", value_serde)) if isinstance(serde, RegistrySerde)]
    topic, partition = _topic(node, topics), _partition(node, topics, isinstance(flow, SubscriptionResponses))
    if not internal and produced.partitioner is None and isinstance(produced.key_serde, WindowedSerde):
        partition = F.when(key.isNotNull(), F.lit(-formats.window_bytes(produced.key_serde)))
    written = [topic.alias("topic"), partition.alias("partition"), key.alias("key"), value.alias("value"),
               F.expr(without_schema_ids("h", registered)).alias("headers"), F.col("t").cast("bigint").alias("t")]  # fmt: skip
    # One producer preserves the order of the task.
    return checked(lambda: frame.select(*written, *more), node.name)


def _sorted(flow: Flow) -> DataFrame:
    """The rows in the order of their task: who reads them takes the time of a row from those before it."""
    if isinstance(flow, Records):
        return flow.frame if flow.ordered else flow.frame.sortWithinPartitions("p", *flow.order())
    return flow.frame.sortWithinPartitions("p", "o")  # type: ignore[union-attr]


def _as_records(flow: Flow, frame: DataFrame) -> DataFrame:
    """Rows of a flow with the columns of records."""
    empty = F.lit(None).cast(HEADERS_TYPE).alias("h")
    if isinstance(flow, Records):
        return frame
    if isinstance(flow, Regrouped | SubscriptionRegistrations | SubscriptionResponses):
        return frame.withColumn("h", empty)
    assert isinstance(flow, Changes)
    return frame.select("p", "k", F.col("new").alias("v"), "t", "o", empty)


def _default(default: Serde | None, kind: DataType, internal: bool) -> Serde:
    """The default serde if it writes this type, else the one inferred from the type."""
    if default is not None and not internal and formats.type_of(default).simpleString() == kind.simpleString():
        return default
    return formats.inferred(kind)


def _topic(node: SinkNode, topics: SinkTopics) -> Column:
    if isinstance(node.topic, str):
        return F.lit(topics.full_name(node.topic))
    context = RecordContext(F.col("t"), F.col("h"), F.col("p"))
    return column(apply(node.topic, node.name, F.col("k"), F.col("v"), context))


def _partition(node: SinkNode, topics: SinkTopics, is_response: bool) -> Column:
    """The partition of each row, NULL where the producer chooses. is_response: of a foreign-key join, which goes to the
    partition of its subscription.
    """
    partitioner = node.produced.partitioner
    if partitioner is None:
        return F.col("primary_partition") if is_response else F.lit(None).cast("int")
    assert isinstance(node.topic, str)  # else `refused`
    full_name = topics.full_name(node.topic)
    partition: Any = apply(
        partitioner, node.name, F.lit(full_name), F.col("k"), F.col("v"), F.lit(topics.partitions(full_name) or 1)
    )
    chosen = column(partition).cast("int")
    invalid = F.concat(F.lit(f"The partitioner of {node.name} gives "), chosen, F.lit(", which is no partition."))
    return F.when(chosen < 0, F.raise_error(invalid).cast("int")).otherwise(chosen)
