"""Kafka Streams' DSL in Python: define a topology, see what it is and which internal topics it has.

from headrace.streams import StreamsBuilder

builder = StreamsBuilder()
builder.stream("words").group_by_key().count().to_stream().to("counts")
print(builder.build().describe())
"""

from headrace.streams.app import KafkaStreams
from headrace.streams.builder import StreamsBuilder
from headrace.streams.cogrouped import CogroupedKStream
from headrace.streams.config import StreamsConfig
from headrace.streams.global_table import GlobalKTable
from headrace.streams.grouped_stream import KGroupedStream, SessionWindowedKStream, TimeWindowedKStream
from headrace.streams.grouped_table import KGroupedTable
from headrace.streams.initialization import InitParameters
from headrace.streams.instance import StreamThreadExceptionResponse
from headrace.streams.materialized import Materialized
from headrace.streams.operations import EmitStrategy
from headrace.streams.options import (
    AutoOffsetReset,
    Branched,
    Consumed,
    Grouped,
    Joined,
    Named,
    Printed,
    Produced,
    Repartitioned,
    StreamJoined,
    TableJoined,
)
from headrace.streams.processor_stores import (
    AggregationWithHeaders,
    KeyValueStore,
    SessionStore,
    ValueAndTimestamp,
    ValueTimestampHeaders,
    VersionedKeyValueStore,
    VersionedRecord,
    WindowStore,
)
from headrace.streams.processors import ProcessorContext, PunctuationType, Record
from headrace.streams.queries import ReadOnlyStore
from headrace.streams.serdes import Serde, Serdes
from headrace.streams.states import State
from headrace.streams.stores import StateStore, Stores, StoreType
from headrace.streams.stream import KStream
from headrace.streams.suppressed import BufferConfig, Suppressed
from headrace.streams.table import KTable
from headrace.streams.topology import Topology
from headrace.streams.windows import JoinWindows, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

__all__ = [
    "AggregationWithHeaders",
    "AutoOffsetReset",
    "Branched",
    "BufferConfig",
    "CogroupedKStream",
    "Consumed",
    "EmitStrategy",
    "GlobalKTable",
    "Grouped",
    "InitParameters",
    "JoinWindows",
    "Joined",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KafkaStreams",
    "KeyValueStore",
    "Materialized",
    "Named",
    "Printed",
    "ProcessorContext",
    "Produced",
    "PunctuationType",
    "ReadOnlyStore",
    "Record",
    "Repartitioned",
    "Serde",
    "Serdes",
    "SessionStore",
    "SessionWindowedKStream",
    "SessionWindows",
    "SlidingWindows",
    "State",
    "StateStore",
    "StoreType",
    "Stores",
    "StreamJoined",
    "StreamThreadExceptionResponse",
    "StreamsBuilder",
    "StreamsConfig",
    "Suppressed",
    "TableJoined",
    "TimeWindowedKStream",
    "TimeWindows",
    "Topology",
    "UnlimitedWindows",
    "ValueAndTimestamp",
    "ValueTimestampHeaders",
    "VersionedKeyValueStore",
    "VersionedRecord",
    "WindowStore",
]  # fmt: skip
