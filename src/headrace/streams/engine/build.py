"""Builds tasks from a topology and a cluster: the topics that each sub-topology reads, and the storage of its stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import cast

from headrace.errors import MissingSourceTopicError
from headrace.kafka.admin import Admin
from headrace.kafka.groups import Partition
from headrace.streams import operations as ops
from headrace.streams.config import StreamsConfig
from headrace.streams.engine.batch_ranges import BatchRanges
from headrace.streams.engine.changelog_refill import ChangelogRefill
from headrace.streams.engine.cluster import Cluster
from headrace.streams.engine.context import StateManager
from headrace.streams.engine.exception_handlers import ExceptionHandlers
from headrace.streams.engine.global_tables import GlobalTable
from headrace.streams.engine.planned_program import PlannedProgram
from headrace.streams.engine.program import Program
from headrace.streams.engine.sinks import SinkTopics
from headrace.streams.engine.source import SourceReader
from headrace.streams.engine.store_table import StoreTable
from headrace.streams.engine.task import StreamTask
from headrace.streams.engine.task_commits import TaskCommits
from headrace.streams.engine.task_positions import TaskPositions
from headrace.streams.internal_topics import changelog_name, full_name
from headrace.streams.nodes import ProcessorNode, SinkNode, SourceNode
from headrace.streams.stores import StateStore, StoreKind, StoreType
from headrace.streams.topology import Topology
from headrace.streams.unsupported import require_supported


def build(
    topology: Topology, config: StreamsConfig, cluster: Cluster, admin: Admin
) -> tuple[list[StreamTask], list[GlobalTable]]:
    """The tasks of all sub-topologies, and the global tables. Raises StreamsError, TopologyError, ConfigError."""
    counts = {name: len(topic.partitions) for name, topic in admin.topics().items()}
    return assemble(topology, config, cluster, counts)


def written_topics(topology: Topology, config: StreamsConfig) -> set[str]:
    """The topics with fixed names that an application writes to, on the cluster; whether they exist or not."""
    prefix, fixed = config.topic_prefix, {node.topic for node in topology.nodes.values() if isinstance(node, SinkNode)}
    sinks = {full_name(topology, prefix, topic) for topic in fixed if isinstance(topic, str)}
    changelogs = {name for store in topology.stores if (name := changelog_name(topology, prefix, store))}
    return sinks | changelogs | ({config.dead_letter_topic} if config.dead_letter_topic else set())


def assemble(
    topology: Topology, config: StreamsConfig, cluster: Cluster, counts: Mapping[str, int]
) -> tuple[list[StreamTask], list[GlobalTable]]:
    """As `build`, with numbers of partitions by topic."""
    require_supported(topology)
    full = partial(full_name, topology, config.topic_prefix)
    topics = SinkTopics(full, counts.get, config.default_serdes, repartition=frozenset(topology.repartition_topics))
    groups = [(number, names) for number, names in enumerate(topology.groups())]
    tables = {
        store: table
        for n in groups
        if topology.is_global(n[1])
        for store, table in _global(topology, config, n[1], topics, cluster, counts)
    }
    shared = cast("dict[str, StoreTable]", {name: table.table for name, table in tables.items()})
    programs = [Program.of(topology, number, names) for number, names in groups if not topology.is_global(names)]
    repartition_sources = _repartition_sources(topology, config, counts, programs)
    tasks = _planned_in_order(
        [_task(topology, config, cluster, counts, program, topics, shared, repartition_sources) for program in programs]
    )
    return [task for task in tasks if task.positions.partitions], list(tables.values())


def _with_storage(topology: Topology, config: StreamsConfig, stores: Mapping[str, StateStore]) -> dict[str, StateStore]:
    """The stores, each on disk or in memory: by its own setting, else the builder's, else the application's."""
    default = topology.store_type or config.store_type or StoreType.ROCKS_DB
    return {
        n: store if store.persistent is not None else replace(store, persistent=default.persistent) for n, store in stores.items()
    }


def _planned_in_order(tasks: list[StreamTask]) -> list[StreamTask]:
    """The tasks, each planned after those that write its topics; of tasks that read each other's topics (a foreign-key join) a
    part is planned first.
    """
    waiting, prepared = list(tasks), []
    while waiting:
        ready = [task for task in waiting if task.plan.has_known_inputs()]
        if not ready and any(task.plan.infer_formats() for task in waiting):
            continue
        for task in ready or waiting[:1]:  # raises for a topic that nothing writes
            task.plan.prepare()
            waiting.remove(task)
            prepared.append(task)
    return prepared


def _task(
    topology: Topology, config: StreamsConfig, cluster: Cluster, counts: Mapping[str, int], program: Program,
    topics: SinkTopics, shared: dict[str, StoreTable], repartition_sources: Mapping[str, list[Partition]],
) -> StreamTask:  # fmt: skip
    read = {source.name: _topics(source, topics, counts) for source in program.sources}
    names = sorted({name for source_topics in read.values() for name in source_topics})
    if missing := [name for name in names if name not in counts]:
        raise MissingSourceTopicError(missing)

    changelog = partial(changelog_name, topology, config.topic_prefix)
    state = StateManager(
        cluster.runtime(max((counts[name] for name in names), default=1)),
        _with_storage(topology, config, topology.stores), changelog, shared, repartition_sources=repartition_sources,
    )  # fmt: skip
    reset = {
        name: source.consumed.reset_policy or config.offset_reset for source in program.sources for name in read[source.name]
    }
    internal = frozenset(topics.full_name(name) for name in topics.repartition)
    handlers = ExceptionHandlers(config.skips_failed_records, config.skips_unwritable_results)
    if handlers:
        state.runtime.defer_writes()
    source_reader = SourceReader(topics, config.skips_bad_records, read, config.dead_letter_topic, config.uses_wall_clock)
    partitions = [(name, p) for name in names for p in range(counts[name])]
    reset |= dict.fromkeys(internal, "earliest")
    positions, refill = TaskPositions(cluster, state.runtime, partitions, reset, internal), ChangelogRefill(state, cluster)
    return StreamTask(
        program.number, PlannedProgram(program, source_reader, state), state, cluster, read,
        BatchRanges(source_reader, cluster, program.sources, config.max_batch_records),
        positions, TaskCommits(program.number, cluster, state, positions, refill), refill,
        source_changelogs={s: full for s, t in topology.source_changelogs.items() if (full := topics.full_name(t)) in names},
        handlers=handlers,
    )  # fmt: skip


def _repartition_sources(
    topology: Topology, config: StreamsConfig, counts: Mapping[str, int], programs: list[Program]
) -> dict[str, list[Partition]]:
    """`StateManager.repartition_sources`."""
    prefix, partitions = config.topic_prefix, {}
    for program in programs:
        read = {topic for source in program.sources for topic in source.topics}
        stores = {store for node in program.nodes if isinstance(node, ProcessorNode) for store in node.stores}
        logs = {log for store in stores if (log := changelog_name(topology, prefix, store))}
        if logs and read and read <= topology.repartition_topics.keys():
            for topic in (full_name(topology, prefix, source_topic) for source_topic in read):
                partitions[topic] = [(name, p) for name in (topic, *sorted(logs)) for p in range(counts.get(name, 0))]
    return partitions


def _topics(source: SourceNode, topics: SinkTopics, counts: Mapping[str, int]) -> list[str]:
    if source.pattern is not None:
        return source.matched(sorted(counts))
    return [topics.full_name(name) for name in source.topics]


def _global(
    topology: Topology, config: StreamsConfig, names: tuple[str, ...], topics: SinkTopics, cluster: Cluster,
    counts: Mapping[str, int],
) -> list[tuple[str, GlobalTable]]:  # fmt: skip
    placed = _with_storage(topology, config, topology.global_stores)
    nodes = [topology.nodes[name] for name in names]
    source = next(node for node in nodes if isinstance(node, SourceNode))
    tables = []
    for node in nodes:
        if not isinstance(node, SourceNode) and isinstance(getattr(node, "operation", None), ops.TableSource):
            store = cast(ops.TableSource, node.operation).store  # type: ignore[union-attr]
            if source.topics[0] not in counts:
                raise MissingSourceTopicError([source.topics[0]])
            source_reader = SourceReader(topics, config.skips_bad_records)
            state_store = StateStore(store, StoreKind.KEY_VALUE, persistent=placed[store].persistent)
            table = GlobalTable(source, source_reader, cluster, counts[source.topics[0]], state_store)
            tables.append((store, table))
    return tables
