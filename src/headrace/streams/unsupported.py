"""Checks for unsupported operations when a topology is built, with one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.errors import TopologyError
from headrace.streams import operations as ops
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.session import require_local
from headrace.streams.engine.source import serdes_of
from headrace.streams.nodes import Node, ProcessorNode, SinkNode
from headrace.streams.processor_groups import owned_stores, owner_of, owns_store, processor_groups
from headrace.streams.serdes import RegistrySerde, WindowedSerde
from headrace.streams.stores import StoreKind
from headrace.streams.topology import Topology
from headrace.streams.windows import SlidingWindows

_NO_HISTORY = ops.StreamAggregate, ops.CogroupMerge, ops.TableAggregate, ops.TableJoinMerge
_DERIVED = ops.TableFilter, ops.TableMapValues, ops.TableTransformValues
_KEEPING_KEYS = (*_DERIVED, ops.Suppress, ops.CogroupMerge, ops.TableJoin, ops.TableJoinMerge)
_NEED_ROWS = ops.TableGroupBy, ops.TableJoin, ops.Suppress, ops.SubscriptionSend, ops.ForeignTableJoin


def require_supported(topology: Topology) -> None:
    """Raise TopologyError for the first unsupported operation."""
    for node in topology.nodes.values():
        if isinstance(node, SinkNode) and not (isinstance(node.topic, str) and node.topic in topology.repartition_topics):
            _check_sink(node)
    for node in _processors(topology):
        windows = node.operation.windows if isinstance(node.operation, ops.StreamAggregate) else None
        if isinstance(windows, SlidingWindows) and windows.difference_ms == 0:  # which ends Kafka Streams at the first record
            raise TopologyError(
                f"{node.name}: Window endMs must be greater than window startMs. Its sliding windows have a time difference of 0."
            )
        if isinstance(node.operation, ops.UserProcessor) and topology.global_stores.keys() & set(node.stores):
            raise TopologyError(
                f"{node.name} fills the global store {node.stores[0]}, which processors do not do here: global_table puts each "
                "record of a topic into a store as it is."
            )
        for store in (topology.stores[name] for name in node.stores if name in topology.stores):
            if store.kind is StoreKind.VERSIONED and isinstance(node.operation, _NO_HISTORY):
                raise TopologyError(
                    f"{node.name}: the store {store.name} is versioned, and results of aggregations and joins keep only the "
                    "latest row of a key here. Keep them in another store, or read them as a table of their own topic."
                )
        if isinstance(node.operation, ops.UserProcessor | ops.TableTransformValues):
            _check_shared_stores(topology, node)
        if isinstance(node.operation, ops.TableTransformValues) and (user := _user_of_rows(topology, node)):
            raise TopologyError(
                f"{user} needs the rows of {node.name}, which is kept nowhere, and a transformer is called once for each change: "
                "give transform_values a store with Materialized.as_(…)."
            )
    sources = list(topology.sources())
    if topology.global_topics and all(
        not source.pattern and topology.global_topics.issuperset(source.topics) for source in sources
    ):
        raise TopologyError(
            "The topology has global tables only: an instance works for the partitions of other topics, and needs at least one "
            "source topic or pattern that is read as a stream or a table."
        )


def _check_sink(node: SinkNode) -> None:
    produced, is_fixed = node.produced, isinstance(node.topic, str)
    if produced.partitioner is not None and not is_fixed:
        raise TopologyError(f"{node.name}: a partitioner needs a topic with a fixed name.")
    for serde in (produced.key_serde, produced.value_serde):
        if isinstance(serde, RegistrySerde) and not is_fixed:
            raise TopologyError(
                f"{node.name}: Serdes.{serde.name}(…) needs a topic with a fixed name, whose subject its schema has."
            )
        if isinstance(serde, WindowedSerde) and isinstance(serde.inner, RegistrySerde):
            raise TopologyError(
                f"{node.name}: a windowed key has no schema in a registry; map it to a key of its own before the sink."
            )


def require_runnable(topology: Topology, config: StreamsConfig) -> None:
    """Raise ConfigError for a source or a processor's store without serdes, or a Spark that runs elsewhere: before anything is
    asked or joined.

    To describe a topology, or to create its topics, needs neither.
    """
    for source in topology.sources():
        if not any(topic in topology.repartition_topics for topic in source.topics):
            serdes_of(source, config.default_serdes)
    for node in _processors(topology):
        if isinstance(node.operation, ops.UserProcessor):
            owned = owned_stores(node, topology.nodes.values())
            for store in (topology.stores[name] for name in node.stores if name in topology.stores and name not in owned):
                store.with_default_serdes(*config.default_serdes)
    if (master := config.spark_settings.get("spark.master")) is not None:
        require_local(master)


def _check_shared_stores(topology: Topology, node: ProcessorNode) -> None:
    """Raise TopologyError for a store that another processor uses too, unless they run as one operator, or it is a table."""
    for store in node.stores:
        others = [other for other in _processors(topology) if store in other.stores and other != node]
        if not others or owns_store(node, store):
            continue
        owner = owner_of(store, topology.nodes.values())
        if owner is None:
            _check_shared_group(topology, node, others, store)
            continue
        if topology.stores[store].kind is not StoreKind.KEY_VALUE:
            raise TopologyError(
                f"{node.name} uses the store {store} of {owner.name}, which is {topology.stores[store].kind}: of the results of "
                "operators a processor can read those with one row for each key. Keep what it needs in a store of its own."
            )
        if node.name in _ancestors(topology, owner):
            raise TopologyError(
                f"{node.name} uses the store {store} of {owner.name}, which comes behind it: a processor gets all records of a "
                "batch before the next operator does, so it can read only what comes before it or beside it."
            )
        if (hidden := _windows_or_suppressed(topology, owner)) is not None:
            raise TopologyError(
                f"{node.name} uses the store {store} of {owner.name}, which follows from {hidden}: a processor can read neither "
                "what has windows as its keys, nor what was held back. Keep what it needs in a store of its own."
            )


def _check_shared_group(topology: Topology, node: ProcessorNode, others: list[ProcessorNode], store: str) -> None:
    """Raise TopologyError for processors that share a store but cannot run as one operator."""
    together = processor_groups(topology.nodes.values()).get(node.name, frozenset[str]()) | {user.name for user in others}
    between = [name for name in topology.nodes if name in together and not _is_processor(topology.nodes[name])]
    if between:
        raise TopologyError(
            f"{node.name} and {others[0].name} use the same store {store}, and {between[0]}, which is no processor, is one of "
            "them or between them. An operator gets all records of a batch before the next one does: only processors that follow "
            "each other, or stand side by side, can share a store."
        )


def _windows_or_suppressed(topology: Topology, table: Node, suppressed: bool = True) -> str | None:
    """A windowed or suppress operator that a table is derived from; None if there is none."""
    operation = table.operation if isinstance(table, ProcessorNode) else None
    if isinstance(operation, ops.StreamAggregate):
        return None if operation.windows is None else table.name
    if isinstance(operation, ops.Suppress) and suppressed:
        return table.name
    if not isinstance(operation, _KEEPING_KEYS):
        return None
    suppressed = suppressed and not isinstance(operation, ops.TableTransformValues)  # which gets each change
    hidden = (_windows_or_suppressed(topology, topology.nodes[parent], suppressed) for parent in table.parents)
    return next((name for name in hidden if name is not None), None)


def _is_processor(node: Node) -> bool:
    return isinstance(node, ProcessorNode) and isinstance(node.operation, ops.UserProcessor)


def _ancestors(topology: Topology, node: ProcessorNode) -> set[str]:
    ancestors, waiting = set[str](), list(node.parents)
    while waiting:
        name = waiting.pop()
        if name not in ancestors:
            ancestors.add(name)
            waiting.extend(topology.nodes[name].parents)
    return ancestors


def _user_of_rows(topology: Topology, table: ProcessorNode) -> str | None:
    """An operator that looks up rows of a table, or needs old values; None if the table is materialized, or there is none."""
    if table.operation.store is not None:  # type: ignore[union-attr]
        return None
    for node in _processors(topology):
        operation = node.operation
        looks = isinstance(operation, ops.StreamTableJoin | ops.SubscriptionJoin) and operation.table == table.name
        if looks or (table.name in node.parents and isinstance(operation, _NEED_ROWS)):
            return node.name
        if table.name in node.parents and isinstance(operation, _DERIVED) and (user := _user_of_rows(topology, node)):
            return user
    return None


def _processors(topology: Topology) -> Iterator[ProcessorNode]:
    return (node for node in topology.nodes.values() if isinstance(node, ProcessorNode))
