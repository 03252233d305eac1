"""Topologies put together by hand."""

from __future__ import annotations

import re

from headrace.streams import Serdes, Stores, Topology
from tests.streams.programs.functions import EXTRACTOR, PROCESSOR, STATEFUL, hours, minutes


def by_hand(t: Topology) -> None:
    t.add_source("source", "a", "b").add_processor("one", PROCESSOR, "source").add_processor("two", PROCESSOR, "one")
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("kept"), Serdes.string(), Serdes.long())
    t.add_state_store(store, "one", "two").add_sink("sink", "out", "two").add_sink("dynamic", EXTRACTOR, "one", "two")


def two_sources_one_processor(t: Topology) -> None:
    t.add_source("s1", "a").add_source("s2", re.compile("b-.*")).add_processor("both", PROCESSOR, "s1", "s2")
    t.add_sink("out", "c", "both")
    t.add_source("alone", "d").add_sink("alone-out", "e", "alone")


def connected_later(t: Topology) -> None:
    t.add_source("s1", "a").add_processor("p1", PROCESSOR, "s1").add_source("s2", "b").add_processor("p2", PROCESSOR, "s2")
    t.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("x"), Serdes.string(), Serdes.long()))
    t.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("y"), Serdes.string(), Serdes.long()))
    t.connect_processor_and_state_stores("p1", "x", "y")
    t.connect_processor_and_state_stores("p2", "y")


def stores_of_every_kind(t: Topology) -> None:
    t.add_source("s", "a").add_processor("p", PROCESSOR, "s").add_processor("q", STATEFUL, "s")
    window = Stores.persistent_window_store("w", hours(2), minutes(10), False)
    t.add_state_store(Stores.window_store_builder(window, Serdes.string(), Serdes.long()), "p")
    session = Stores.persistent_session_store("se", hours(3))
    t.add_state_store(Stores.session_store_builder(session, Serdes.string(), Serdes.long()), "p")
    versioned = Stores.persistent_versioned_key_value_store("v", hours(4))
    t.add_state_store(Stores.versioned_key_value_store_builder(versioned, Serdes.string(), Serdes.long()), "p")
    plain = Stores.key_value_store_builder(Stores.persistent_key_value_store("k"), Serdes.string(), Serdes.long())
    t.add_state_store(plain.with_logging_enabled({"min.insync.replicas": "2"}), "p")
    lost = Stores.key_value_store_builder(Stores.persistent_key_value_store("l"), Serdes.string(), Serdes.long())
    t.add_state_store(lost.with_logging_disabled(), "p")


def a_global_store_by_hand(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("g"), Serdes.string(), Serdes.long())
    t.add_global_store(store.with_logging_disabled(), "g-source", "g-topic", "g-processor", PROCESSOR)
    t.add_source("s", "a").add_processor("p", PROCESSOR, "s")


def a_read_only_store(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("r"), Serdes.string(), Serdes.long())
    t.add_read_only_state_store(store, "r-source", "r-topic", "r-processor", PROCESSOR)
    t.add_source("s", "a").add_processor("p", PROCESSOR, "s").connect_processor_and_state_stores("p", "r")


def a_diamond(t: Topology) -> None:
    t.add_source("s", "a").add_processor("left", PROCESSOR, "s").add_processor("right", PROCESSOR, "s")
    t.add_processor("right-2", PROCESSOR, "right").add_processor("end", PROCESSOR, "left", "right-2").add_sink("out", "o", "end")
    t.add_sink("early", "e", "s", "left", "right", "end")


def a_parent_twice(t: Topology) -> None:
    t.add_source("s", "a").add_processor("p", PROCESSOR, "s", "s").add_sink("out", "o", "p", "s", "p")


def a_bush(t: Topology) -> None:
    t.add_source("s", "a").add_processor("z", PROCESSOR, "s").add_processor("y", PROCESSOR, "s", "z")
    t.add_processor("x", PROCESSOR, "y", "z", "s").add_processor("w", PROCESSOR, "x", "y").add_processor("v", PROCESSOR, "s", "w")
    t.add_processor("u", PROCESSOR, "v", "w", "x").add_processor("t", PROCESSOR, "u", "s").add_processor("r", PROCESSOR, "s", "t")
    t.add_sink("out-1", "o1", "r", "s", "z").add_sink("out-2", "o2", "t", "v", "y").add_sink("out-3", "o3", "x", "u")


def an_unknown_parent_is_refused(t: Topology) -> None:
    t.add_source("s", "a").add_processor("p", PROCESSOR, "nobody")


def a_parent_of_its_own_is_refused(t: Topology) -> None:
    t.add_source("s", "a").add_processor("p", PROCESSOR, "p")


def no_parent_is_refused(t: Topology) -> None:
    t.add_processor("p", PROCESSOR)


def no_topic_is_refused(t: Topology) -> None:
    t.add_source("s")


def a_source_twice_is_refused(t: Topology) -> None:
    t.add_source("s", "a").add_source("s", "b")


def a_topic_twice_is_refused(t: Topology) -> None:
    t.add_source("s", "a").add_source("r", "a")


def a_store_of_a_source_is_refused(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("k"), Serdes.string(), Serdes.long())
    t.add_source("s", "a").add_state_store(store, "s")


def a_connection_of_a_source_is_refused(t: Topology) -> None:
    t.add_source("s", "a").connect_processor_and_state_stores("s", "k")


def a_sink_as_a_parent_is_refused(t: Topology) -> None:
    t.add_source("s", "a").add_sink("out", "o", "s").add_processor("p", PROCESSOR, "out")


def a_store_of_an_unknown_processor_is_refused(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("k"), Serdes.string(), Serdes.long())
    t.add_source("s", "a").add_state_store(store, "nobody")


def equal_names_of_a_global_source_and_processor_are_refused(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("g"), Serdes.string(), Serdes.long())
    t.add_global_store(store.with_logging_disabled(), "same", "g-topic", "same", PROCESSOR)


def a_source_without_topics_whose_name_is_taken_is_refused_for_its_name(t: Topology) -> None:
    t.add_source("s", "a").add_source("s")


def a_global_store_whose_topic_is_read_is_refused_for_its_topic(t: Topology) -> None:
    store = Stores.key_value_store_builder(Stores.in_memory_key_value_store("g"), Serdes.string(), Serdes.long())
    t.add_source("s", "a")
    t.add_global_store(store.with_logging_disabled(), "same", "a", "same", PROCESSOR)
