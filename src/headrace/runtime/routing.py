"""The destination topics of a stream after its chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from headrace.connectors.base import Poll, Stream
from headrace.connectors.feed import FeedSource
from headrace.converters.base import load, load_header
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.runtime.delivery import Routing
from headrace.transforms.chain import INPUT, NO_HEADERS, Converters, Readers, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.literal import rows
from headrace.values.sql import lit


def routing(stages: Sequence[Stage], source: Stream | Poll | FeedSource) -> Routing:
    """The routing of a source through a chain: by source topic if no stage routes by record."""
    counts = source.partition_counts if isinstance(source, FeedSource) else None
    routed = router(stages)
    if routed is None:
        return Routing(None, counts and {})
    destination = source.destination

    def after(topic: str) -> str | None:
        before = destination(topic) if destination else None
        return before and routed(before)

    return Routing(destination and after, counts and counts_after(counts, routed))


def router(stages: Sequence[Stage]) -> Callable[[str], str | None] | None:
    """The chain as a function of the topic (returns None if its records are dropped); None if the records decide."""
    routers = [stage for stage in stages if stage.transformation.routes != "no" or _drops_topics(stage)]
    return _router(routers) if routers else lambda topic: topic


def _drops_topics(stage: Stage) -> bool:
    return stage.transformation.drops and (stage.predicate is None or stage.predicate.by_topic)


def counts_after(counts: Mapping[str, int], routed: Callable[[str], str | None]) -> dict[str, int]:
    """Partition counts by destination topic, without those that merge topics of different counts."""
    partitions: dict[str, set[int]] = {}
    for topic, count in counts.items():
        if (name := routed(topic)) is not None:
            partitions.setdefault(name, set()).add(count)
    return {topic: numbers.pop() for topic, numbers in partitions.items() if len(numbers) == 1}


def _router(routers: Sequence[Stage]) -> Callable[[str], str | None] | None:
    """The stages as a function of the topic (returns None if its records are dropped); None if the records decide."""
    for stage in routers:
        if stage.transformation.drops:
            continue
        if stage.transformation.routes != "by topic" or (stage.predicate is not None and not stage.predicate.by_topic):
            return None
    nothing = Readers(TypedColumn("null"), TypedColumn("null"), TypedHeaders())
    bytes_ = load("org.apache.kafka.connect.converters.ByteArrayConverter", {}, is_key=True)
    header = load_header("org.apache.kafka.connect.storage.SimpleHeaderConverter", {})
    compiled = compile_chain(routers, nothing, Converters(bytes_, bytes_, header), show=True)

    @cache
    def routed(topic: str) -> str | None:
        values = [lit(topic), "int(NULL)", "bigint(NULL)", "bigint(NULL)", "binary(NULL)", "binary(NULL)", NO_HEADERS]
        row = compiled.apply(rows([dict(zip(INPUT, values, strict=True))])).head()
        assert row is not None
        return None if row["dropped"] else row["topic"] or topic

    return routed
