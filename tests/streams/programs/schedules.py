"""Topologies that are run: processors that forward several records, and have schedules by stream time and by the clock."""

from __future__ import annotations

from headrace.streams import Serdes, Stores, StreamsBuilder
from tests.streams.programs.case import case, clock, records
from tests.streams.programs.functions import EVERY_FIVE, EVERY_TEN, KEEPER, TWO_TIMES, UPPER

TIMES = (
    records("in", "a:b@3 a:c@12 b:d@11 a:e@19")
    + clock(4)
    + records("in", "b:f@20 a:g@47")
    + clock(1)
    + clock(7)
    + records("in", "a:h@40 b:i@50 a:j@61")
    + clock(30)
    + clock(3)
    + records("in", "b:k@60 a:l@99")
    + clock(5)
)


@case(input=TIMES)
def a_processor_with_two_schedules(b: StreamsBuilder) -> None:
    b.stream("in").process(EVERY_TEN).to("out")


@case(input=TIMES)
def what_is_forwarded_goes_through_all_that_follows(b: StreamsBuilder) -> None:
    shared = Stores.persistent_key_value_store("shared")
    b.add_state_store(Stores.key_value_store_builder(shared, Serdes.string(), Serdes.string()))
    b.stream("in").process(TWO_TIMES).process(KEEPER, "shared").process(TWO_TIMES).to("out")


@case(input=TIMES)
def two_processors_with_schedules_in_a_row(b: StreamsBuilder) -> None:
    b.stream("in").process(EVERY_TEN).process(EVERY_FIVE).to("out")


@case(input=TIMES)
def two_processors_with_schedules_and_a_store(b: StreamsBuilder) -> None:
    shared = Stores.persistent_key_value_store("kept")
    b.add_state_store(Stores.key_value_store_builder(shared, Serdes.string(), Serdes.string()))
    b.stream("in").process(EVERY_FIVE, "kept").process(EVERY_TEN, "kept").to("out")


@case(input=TIMES)
def two_processors_with_schedules_beside_each_other(b: StreamsBuilder) -> None:
    s = b.stream("in")
    s.process(EVERY_TEN).merge(s.map_values(UPPER).process(EVERY_FIVE)).to("out")
