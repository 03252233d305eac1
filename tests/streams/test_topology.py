"""What a compiler finds in a topology: the operations, with the user's functions as they were given."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from headrace.errors import TopologyError
from headrace.streams import Consumed, JoinWindows, Materialized, Serdes, SlidingWindows, StreamsBuilder, TimeWindows, Topology
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.build import written_topics
from headrace.streams.internal_topics import derive, external_topics
from headrace.streams.nodes import ProcessorNode
from headrace.streams.operations import Count, FilterOperation, JoinKind, RepartitionFilter, StreamAggregate, StreamJoin


def operations(topology: Topology) -> list[Any]:
    return [node.operation for node in topology.nodes.values() if isinstance(node, ProcessorNode)]


def positive(key: Any, value: Any) -> Any:
    return value > 0


def test_an_operation_has_the_users_function():
    builder = StreamsBuilder()
    builder.stream("in").filter_not(positive).to("out")
    assert operations(builder.build()) == [FilterOperation(positive, negate=True)]


def test_a_global_table_of_a_topic_alone_can_be_queried_by_its_generated_name():
    builder = StreamsBuilder()
    assert builder.global_table("g").queryable_store_name == "g-STATE-STORE-0000000000"
    assert builder.global_table("h", Consumed.as_("read")).queryable_store_name == "h-STATE-STORE-0000000003"
    assert builder.global_table("i", Materialized.as_("kept")).queryable_store_name == "kept"
    assert builder.global_table("j", Materialized.with_(Serdes.string(), Serdes.string())).queryable_store_name is None


def test_an_aggregation_says_what_where_and_in_which_windows():
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_and_grace(timedelta(minutes=5), timedelta(minutes=1))
    materialized = Materialized.as_("counts").with_key_serde(Serdes.string()).with_retention(timedelta(hours=1))
    builder.stream("in").group_by_key().windowed_by(windows).count(materialized)
    topology = builder.build()
    assert operations(topology) == [StreamAggregate(Count(), "counts", windows)]
    store = topology.stores["counts"]
    assert (store.retention_ms, store.window_size_ms, store.key_serde, store.value_serde) == (
        3_600_000, 300_000, Serdes.string(), Serdes.long(),
    )  # fmt: skip


def test_sliding_windows_of_no_length_are_described_and_not_run():
    builder = StreamsBuilder()
    builder.stream("in").group_by_key().windowed_by(SlidingWindows.of_time_difference_and_grace(0, 5)).count()
    assert "KSTREAM-AGGREGATE-0000000002" in builder.draft().describe()
    with pytest.raises(TopologyError, match=r"KSTREAM-AGGREGATE-0000000002: Window endMs must be greater than window startMs\."):
        builder.build()


def test_a_join_says_which_records_may_remain_alone():
    builder = StreamsBuilder()
    windows = JoinWindows.of_time_difference_with_no_grace(1000)
    builder.stream("a").left_join(builder.stream("b"), positive, windows)
    left, right = (operation for operation in operations(builder.build()) if isinstance(operation, StreamJoin))
    assert left.kind == right.kind == JoinKind.LEFT
    assert left.shared_store == right.shared_store == "KSTREAM-OUTERSHARED-0000000004-store"


def test_records_without_a_key_go_through_a_repartition_topic_only_if_an_outer_join_wants_them():
    builder = StreamsBuilder()
    stream = builder.stream("a").select_key(positive)
    stream.join(builder.table("t"), positive)
    builder.stream("b").select_key(positive).left_join(builder.table("u"), positive)
    drops_null_keys = [
        operation.drops_null_keys for operation in operations(builder.build()) if isinstance(operation, RepartitionFilter)
    ]
    assert drops_null_keys == [True, False]


def test_defining_and_describing_need_no_broker_and_change_nothing():
    builder = StreamsBuilder()
    builder.stream("in").group_by_key().count()
    topology = builder.build()
    assert topology.describe() == topology.describe()


def by_key(key: Any, value: Any, context: Any) -> Any:
    return key


def test_an_extractor_is_shown_as_it_shows_itself():
    builder = StreamsBuilder()
    builder.stream("in").to(by_key)
    assert f"(extractor class: {by_key})" in builder.build().describe()


def test_a_sink_whose_topic_a_function_chooses_is_no_parent_either():
    topology = Topology().add_source("source", "in").add_sink("chosen", by_key, "source")
    with pytest.raises(TopologyError, match="Sink chosen cannot be used a parent"):
        topology.add_sink("lost", "out", "chosen")


def test_what_an_application_writes_to_is_named_in_one_way():
    builder = StreamsBuilder()
    grouped = builder.stream("in").group_by(positive)
    grouped.count(Materialized.as_("logged"))
    grouped.count(Materialized.as_("lost").with_logging_disabled()).to_stream().to("out")
    builder.table("table", Materialized.as_("kept"))
    config = StreamsConfig({"application.id": "app", "bootstrap.servers": "none:1", "topology.optimization": "all"})
    topology = builder.build({"topology.optimization": "all"})
    written = written_topics(topology, config)
    assert written == {"app-logged-changelog", "app-logged-repartition", "out"}
    assert {topic.name for topic in derive(topology, config, {"in": 1, "table": 1}.get)} == written - {"out"}


def test_a_pattern_does_not_match_the_topics_of_the_broker():
    builder = StreamsBuilder()
    builder.stream(re.compile(".*_.*"))
    topics = ["__consumer_offsets", "__transaction_state", "__share_group_state", "__mine", "a_b"]
    assert external_topics(builder.build(), topics) == ["__mine", "a_b"]
