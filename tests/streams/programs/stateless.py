"""Operators without state."""

from __future__ import annotations

import re

from headrace.streams import (
    Branched,
    Consumed,
    Materialized,
    Named,
    Printed,
    Produced,
    Repartitioned,
    Serdes,
    Stores,
    StreamsBuilder,
)
from tests.streams.programs.functions import (
    ACTION,
    CHAIN,
    CONSUMER,
    EXTRACTOR,
    FIXED,
    KEY,
    PAIR,
    PAIRS,
    PREDICATE,
    PROCESSOR,
    STATEFUL,
    VALUE,
    VALUES,
)


def one_topic_to_another(b: StreamsBuilder) -> None:
    b.stream("in").to("out")


def several_topics_of_one_source(b: StreamsBuilder) -> None:
    b.stream(["orders", "payments", "refunds", "a", "b", "c", "zebra", "x-1", "x-2", "x-3", "x-4", "x-5", "x-6"]).to("out")


def a_dozen_topics(b: StreamsBuilder) -> None:
    b.stream(["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12"]).to("out")


def topics_by_pattern(b: StreamsBuilder) -> None:
    b.stream(re.compile("orders-.*")).filter(PREDICATE).to("out")


def every_operator_in_a_row(b: StreamsBuilder) -> None:
    s = b.stream("in").filter(PREDICATE).filter_not(PREDICATE).map_values(VALUE).flat_map_values(VALUES).peek(ACTION)
    s.select_key(KEY).map(PAIR).flat_map(PAIRS).process_values(FIXED).process(PROCESSOR).to("out")


def every_operator_with_a_name(b: StreamsBuilder) -> None:
    s = b.stream("in", Consumed.as_("read")).filter(PREDICATE, Named.as_("some")).filter_not(PREDICATE, Named.as_("others"))
    v = s.map_values(VALUE, Named.as_("value")).flat_map_values(VALUES, Named.as_("values")).peek(ACTION, Named.as_("look"))
    k = v.select_key(KEY, Named.as_("key")).map(PAIR, Named.as_("pair")).flat_map(PAIRS, Named.as_("pairs"))
    p = k.process_values(FIXED, Named.as_("fixed")).process(PROCESSOR, Named.as_("own"))
    p.for_each(ACTION, Named.as_("each"))
    p.to("out", Produced.as_("write"))


def ends(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.for_each(ACTION)
    s.print(Printed.to_sys_out())
    s.print(Printed.to_sys_out().with_name("printer").with_label("label"))
    s.to(EXTRACTOR)
    s.to(EXTRACTOR, Produced.as_("dynamic"))


def branches(b: StreamsBuilder) -> None:
    branches = b.stream("in").split().branch(PREDICATE).branch(PREDICATE).default_branch()
    branches["KSTREAM-BRANCH-00000000011"].to("first")
    branches["KSTREAM-BRANCH-00000000012"].to("second")
    branches["KSTREAM-BRANCH-00000000010"].to("rest")


def named_branches(b: StreamsBuilder) -> None:
    s = b.stream("in").split(Named.as_("split-"))
    branches = s.branch(PREDICATE, Branched.as_("cheap")).branch(PREDICATE, Branched.as_("dear")).no_default_branch()
    branches["split-cheap"].map_values(VALUE).to("cheap")
    branches["split-dear"].map_values(VALUE).to("dear")


def branches_with_functions(b: StreamsBuilder) -> None:
    s = b.stream("in").map(PAIR).split(Named.as_("split-"))
    s = s.branch(PREDICATE, Branched.with_consumer(CONSUMER)).branch(PREDICATE, Branched.with_function(CHAIN, "mapped"))
    branches = s.branch(PREDICATE, Branched.with_consumer(CONSUMER, "named")).default_branch(Branched.with_function(CHAIN))
    branches["split-mapped"].group_by_key().count()
    branches["split-0"].to("rest")


def merged(b: StreamsBuilder) -> None:
    first = b.stream("a")
    second = b.stream("b")
    first.merge(second).merge(b.stream("c"), Named.as_("all")).to("out")


def merged_after_a_new_key(b: StreamsBuilder) -> None:
    b.stream("a").merge(b.stream("b").map(PAIR)).group_by_key().count().to_stream().to("out")


def merged_with_itself(b: StreamsBuilder) -> None:
    s = b.stream("a")
    s.merge(s.map_values(VALUE)).merge(s).to("out")


def branched_and_merged(b: StreamsBuilder) -> None:
    s = b.stream("in")
    branches = s.split(Named.as_("b-")).branch(PREDICATE, Branched.as_("1")).branch(PREDICATE, Branched.as_("2")).default_branch()
    branches["b-1"].merge(branches["b-2"]).merge(branches["b-0"]).map_values(VALUE).to("out")


def one_topic_read_twice(b: StreamsBuilder) -> None:
    b.stream("in").filter(PREDICATE).to("first")
    b.stream("in").map_values(VALUE).to("second")
    b.stream(["b", "a"]).to("third")
    b.stream(["a", "b"]).to("fourth")


def one_pattern_read_twice(b: StreamsBuilder) -> None:
    b.stream(re.compile("in.*")).to("first")
    b.stream(re.compile("in.*")).map_values(VALUE).to("second")


def overlapping_topics_are_refused(b: StreamsBuilder) -> None:
    b.stream(["a", "b"]).to("first")
    b.stream(["b", "c"]).to("second")


def a_stream_and_a_table_of_one_topic_are_refused(b: StreamsBuilder) -> None:
    b.stream("a").to("first")
    b.table("a", Materialized.as_("s"))


def a_pattern_that_matches_a_known_topic_is_refused(b: StreamsBuilder) -> None:
    b.stream("a").to("first")
    b.stream(re.compile("a.*")).to("second")


def a_topic_that_matches_a_known_pattern_is_refused(b: StreamsBuilder) -> None:
    b.stream(re.compile("a.*")).to("second")
    b.stream("ab").to("first")


def a_name_used_twice_is_refused(b: StreamsBuilder) -> None:
    s = b.stream("in").filter(PREDICATE, Named.as_("twice"))
    s.map_values(VALUE, Named.as_("twice")).to("out")


def an_illegal_name_is_refused(b: StreamsBuilder) -> None:
    b.stream("in").filter(PREDICATE, Named.as_("with space"))


def repartitioned(b: StreamsBuilder) -> None:
    b.stream("in").repartition().to("out")


def repartitioned_with_a_name_and_partitions(b: StreamsBuilder) -> None:
    b.stream("in").map(PAIR).repartition(Repartitioned.as_("mine").with_number_of_partitions(7)).group_by_key().count()


def repartitioned_in_a_row(b: StreamsBuilder) -> None:
    s = b.stream("in").repartition(Repartitioned.number_of_partitions(3)).select_key(KEY)
    s.repartition(Repartitioned.as_("second")).select_key(KEY).repartition().to("out")


def a_name_that_ends_as_repartition_topics_do(b: StreamsBuilder) -> None:
    b.stream("in").repartition(Repartitioned.as_("my-repartition")).to("out")


def processors_with_stores(b: StreamsBuilder) -> None:
    supplier = Stores.persistent_key_value_store("kept")
    b.add_state_store(Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.long()))
    s = b.stream("in")
    s.process(PROCESSOR, "kept").to("out")
    s.process_values(FIXED, Named.as_("named"), "kept").to("out2")
    b.stream("other").process(STATEFUL).to("out3")


def a_store_joins_sub_topologies(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store_builder(Stores.in_memory_key_value_store("kept"), Serdes.string(), Serdes.long()))
    b.stream("a").process(PROCESSOR, "kept").to("out-a")
    b.stream("b").to("out-b")
    b.stream("c").process(PROCESSOR, "kept").to("out-c")


def an_unknown_store_is_refused(b: StreamsBuilder) -> None:
    b.stream("a").process(PROCESSOR, "nothing").to("out-a")


def an_unused_store(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store_builder(Stores.in_memory_key_value_store("unused"), Serdes.string(), Serdes.long()))
    b.stream("a").to("out-a")


def a_wide_fan_out(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.filter(PREDICATE).to("o1")
    s.map_values(VALUE).filter(PREDICATE).to("o2")
    s.map_values(VALUE).filter(PREDICATE).peek(ACTION).to("o3")
    s.flat_map_values(VALUES).to("o4")
    s.peek(ACTION).map_values(VALUE).map_values(VALUE).map_values(VALUE).to("o5")
    s.merge(s.peek(ACTION)).to("o6")
    s.filter_not(PREDICATE).split().branch(PREDICATE).branch(PREDICATE).branch(PREDICATE).no_default_branch()
