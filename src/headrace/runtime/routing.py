"""The destination topics of a stream after its chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.connectors.base import Poll, Stream
from headrace.connectors.feed import FeedSource
from headrace.converters.base import load, load_header
from headrace.converters.typed_column import TypedColumn, TypedHeaders
from headrace.runtime.delivery import Routing
from headrace.transforms.chain import INPUT, NO_HEADERS, Compiled, Converters, Readers, compile_chain
from headrace.transforms.stages import Stage
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TOPICS_PER_QUERY = 1000


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


class TopicRouter:
    """A chain that routes by the topic alone, as a function of the topic."""

    def __init__(self, compiled: Compiled | None) -> None:
        """compiled: the stages that route; None: there are none."""
        self._compiled = compiled
        self._known: dict[str, str | None] = {}

    def __call__(self, topic: str) -> str | None:
        """The topic after the chain; None: its records are dropped."""
        return self.all([topic])[topic]

    def all(self, topics: Iterable[str]) -> dict[str, str | None]:
        """The topics after the chain, by those before: much cheaper than one by one, as each query of Spark has to be planned."""
        asked = list(dict.fromkeys(topics))
        if self._compiled is None:
            return dict(zip(asked, asked, strict=True))
        unknown = [topic for topic in asked if topic not in self._known]
        for first in range(0, len(unknown), _TOPICS_PER_QUERY):
            self._add(self._compiled, unknown[first : first + _TOPICS_PER_QUERY])
        return {topic: self._known[topic] for topic in asked}

    def _add(self, compiled: Compiled, topics: Sequence[str]) -> None:
        results = compiled.apply(_records(topics)).select("topic", "dropped").collect()
        for topic, row in zip(topics, results, strict=True):
            self._known[topic] = None if row["dropped"] else row["topic"] or topic


def router(stages: Sequence[Stage]) -> TopicRouter | None:
    """The chain as a function of the topic; None if the records decide. Spark is called only if a stage routes."""
    routers = routing_stages(stages)
    return _router(routers) if routers else TopicRouter(None)


def routing_stages(stages: Sequence[Stage]) -> list[Stage]:
    """The stages that may change the topic of a record, or drop all records of a topic."""
    return [stage for stage in stages if stage.transformation.routes != "no" or _drops_topics(stage)]


def _drops_topics(stage: Stage) -> bool:
    return stage.transformation.drops and (stage.predicate is None or stage.predicate.by_topic)


def counts_after(counts: Mapping[str, int], routed: TopicRouter) -> dict[str, int]:
    """Partition counts by destination topic, without those that merge topics of different counts."""
    partitions: dict[str, set[int]] = {}
    for topic, name in routed.all(counts).items():
        if name is not None:
            partitions.setdefault(name, set()).add(counts[topic])
    return {topic: numbers.pop() for topic, numbers in partitions.items() if len(numbers) == 1}


def _router(routers: Sequence[Stage]) -> TopicRouter | None:
    for stage in routers:
        if stage.transformation.drops:
            continue
        if stage.transformation.routes != "by topic" or (stage.predicate is not None and not stage.predicate.by_topic):
            return None
    nothing = Readers(TypedColumn("null"), TypedColumn("null"), TypedHeaders())
    bytes_ = load("org.apache.kafka.connect.converters.ByteArrayConverter", {}, is_key=True)
    header = load_header("org.apache.kafka.connect.storage.SimpleHeaderConverter", {})
    return TopicRouter(compile_chain(routers, nothing, Converters(bytes_, bytes_, header), show=True))


def _records(topics: Sequence[str]) -> DataFrame:
    """A record of each topic, as the input of a chain. VALUES is one relation: with UNION ALL the chain is planned for each."""
    from pyspark.sql import SparkSession

    values = ["topic", "int(NULL)", "bigint(NULL)", "bigint(NULL)", "binary(NULL)", "binary(NULL)", NO_HEADERS]
    columns = ", ".join(f"{value} AS {name}" for name, value in zip(INPUT, values, strict=True))
    listed = ", ".join(f"({lit(topic)})" for topic in topics)
    return SparkSession.active().sql(f"SELECT {columns} FROM VALUES {listed} AS topics(topic)")
