"""Where the groups of a source cluster would resume in the target, if they were switched over now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from headrace.connectors.base import Props
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.checkpoint_config import MirrorCheckpointConfig
from headrace.connectors.mirror.clients import client
from headrace.connectors.mirror.formats import Checkpoint
from headrace.connectors.mirror.groups import accepted_partitions, relevant_groups
from headrace.connectors.mirror.positions import Syncs, read_checkpoints
from headrace.connectors.mirror.translation import Naming, Translations, checkpoints
from headrace.errors import HeadraceError
from headrace.kafka.groups import CommittedOffset, Partition

log = structlog.get_logger(__name__)

ByGroup = dict[str, dict[Partition, Checkpoint]]


@dataclass(frozen=True)
class Switch:
    """The change of a group's offset of one partition in the target."""

    group: str
    topic: str
    partition: int
    upstream: int
    """The offset that the group has committed in the source."""
    start: int
    """Where it continues in the target."""
    lag: int
    """How many offsets are there from `start` on."""
    exact: bool
    """Nothing is read twice."""
    committed: int | None
    """The offset that it has in the target now, None: none."""
    from_source: bool
    """Whether it follows from the source's own offset; else from the last checkpoint."""
    metadata: str = ""
    """The text that the group has committed with the offset in the source."""


@dataclass(frozen=True)
class TranslatedPosition:
    """Where a group may continue in the copy of a partition, by its last checkpoint."""

    checkpoint: Checkpoint
    exact: bool
    """It is the end of what has been mirrored, or a pair of offsets is known for it."""
    from_source: bool
    """As in `Switch`."""


class Failover:
    """Reads what is known of a flow; changes nothing before `commit`."""

    def __init__(self, props: Props, timeout_s: float = 30.0, source_s: float = 10.0) -> None:
        """props: of a MirrorCheckpointConnector; source_s: how long the source may take to answer at all. Raises ConfigError."""
        self._config, self._props, self._timeout_s, self._source_s = MirrorCheckpointConfig(props), props, timeout_s, source_s
        self._target = MirrorAdmin(client(props, "target", "admin"))

    def plan(self) -> list[Switch]:
        """Every group's start in the target, by group, topic and partition.

        The source's own offsets count if it can be reached, the last checkpoints where not. Raises KafkaFailure if the target
        cannot be reached.
        """
        by_group = self._positions()
        switches: list[Switch] = []
        for group, positions in sorted(by_group.items()):
            committed = self._target.group_offsets(group, positions, self._timeout_s)
            ends = self._target.partition_offsets(positions, "latest", self._timeout_s)
            for where, position in sorted(positions.items()):
                start, end, present = position.checkpoint.downstream, ends[where], committed.get(where)
                switches.append(Switch(
                    group, *where, position.checkpoint.upstream, start, max(0, end - start), position.exact,
                    None if present is None else present.offset, position.from_source, position.checkpoint.metadata,
                ))  # fmt: skip
        return switches

    def commit(self, switches: list[Switch]) -> None:
        """Set the groups' offsets in the target. Raises KafkaFailure, UNKNOWN_MEMBER_ID for a group that is active there."""
        by_group: dict[str, dict[Partition, CommittedOffset]] = {}
        for switch in switches:
            by_group.setdefault(switch.group, {})[switch.topic, switch.partition] = CommittedOffset(switch.start, switch.metadata)
        for group, offsets in by_group.items():
            self._target.commit_group(group, offsets, self._timeout_s)

    def _positions(self) -> dict[str, dict[Partition, TranslatedPosition]]:
        present = self._target.partition_counts(self._timeout_s)
        written: ByGroup = {}
        if self._config.checkpoints_topic in present:
            written = read_checkpoints(self._config.checkpoints_topic, client(self._props, "target", "consumer"), None)
        translated = {
            group: {where: TranslatedPosition(c, exact=False, from_source=False) for where, c in positions.items()}
            for group, positions in written.items()
            if self._config.group_filter.accepts(group)  # others were checkpointed, too, with another configuration
        }
        try:
            source_positions = self._read_source()
        except HeadraceError as error:
            log.warning("failover.source.unreachable", cause=str(error), meaning="the last checkpoints count")
            source_positions = {}
        for group, positions in source_positions.items():
            translated.setdefault(group, {}).update(positions)
        return {
            group: existing
            for group, positions in translated.items()
            if (existing := {(t, p): at for (t, p), at in positions.items() if p < present.get(t, 0)})
        }

    def _read_source(self) -> dict[str, dict[Partition, TranslatedPosition]]:
        config, source = self._config, MirrorAdmin(client(self._props, "source", "admin"))
        partitions = accepted_partitions(source, config.topic_filter, self._source_s)
        groups = relevant_groups(source, config.group_filter, config.topic_filter, self._timeout_s)
        translations = self._translations()
        naming = Naming(config.policy, config.source_cluster_alias, config.target_cluster_alias)
        by_group: dict[str, dict[Partition, TranslatedPosition]] = {}
        for group in groups:
            committed = source.group_offsets(group, partitions, self._timeout_s)
            names = {(naming.downstream(topic), p): (topic, p) for topic, p in committed}
            for where, checkpoint in checkpoints(group, committed, translations, naming).items():
                exact = is_exact(translations, names[where], checkpoint.upstream)
                by_group.setdefault(group, {})[where] = TranslatedPosition(checkpoint, exact, from_source=True)
        return by_group

    def _translations(self) -> Translations:
        config = self._config
        side = "source" if config.offset_syncs_topic_location == "source" else "target"
        syncs = Syncs(config.offset_syncs_topic, client(self._props, side, "consumer"), Translations(only_newest=False))
        try:
            syncs.start(self._timeout_s)
            return syncs.translations
        finally:
            syncs.stop()


def is_exact(translations: Translations, partition: Partition, offset: int) -> bool:
    """Whether an offset is that of a known pair, or the one right after the record of a pair."""
    newest = translations.at(partition, offset)
    return newest is not None and offset - newest.upstream <= 1


def as_json(switches: list[Switch]) -> list[Mapping[str, object]]:
    """The switches for scripts."""
    return [vars(switch) for switch in switches]
