"""How long checkpoints take, as MirrorMaker measures it (KIP-382, MirrorCheckpointMetrics). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from headrace.connectors.base import Measured
from headrace.connectors.mirror.formats import Checkpoint

OF_MIRROR, OF_PLUGIN = "mirror-mirrorcheckpointconnector", "plugins"
"""The group: legacy, and new (KIP-1280)."""


_RETENTION_MS = 60_000
"""For so long Kafka keeps the samples of an average."""


class CheckpointMetrics:
    """Of the last checkpoint of each partition: the time (ms) from when it was made until it was acknowledged."""

    def __init__(self, source: str, target: str, formats: Collection[str], task: Mapping[str, str]) -> None:
        """source, target: aliases; formats: of `metric.names.formats`; task: the labels of the new names."""
        self._flow, self._formats, self._task = {"source": source, "target": target}, formats, task
        self._created_ms = 0
        self._last: dict[tuple[str, str, int], tuple[int, int]] = {}  # the latency, and when the checkpoint was acknowledged

    def created(self, checkpoints: Iterable[Checkpoint], now_ms: int) -> None:
        """Checkpoints were created now; partitions without a new one for a minute are dropped."""
        again = {_partition(checkpoint) for checkpoint in checkpoints}
        self._last = {
            where: measured for where, measured in self._last.items() if where in again or now_ms - measured[1] < _RETENTION_MS
        }
        self._created_ms = now_ms

    def acknowledged(self, checkpoints: Iterable[Checkpoint], now_ms: int) -> None:
        """Some of the last checkpoints are written."""
        latency = max(0, now_ms - self._created_ms)
        self._last = self._last | {_partition(checkpoint): (latency, now_ms) for checkpoint in checkpoints}

    def measures(self) -> Iterator[Measured]:
        """Least, greatest and average are those of one checkpoint: the last."""
        for (group, topic, partition), (latency, _) in sorted(self._last.items()):
            labels = {**self._flow, "group": group, "topic": topic, "partition": str(partition)}
            for ending in ("", "-min", "-max", "-avg"):
                name = f"checkpoint-latency-ms{ending}"
                if "legacy" in self._formats:
                    yield OF_MIRROR, name, latency, labels
                if "new" in self._formats:
                    yield OF_PLUGIN, name, latency, {**self._task, **labels}


def _partition(checkpoint: Checkpoint) -> tuple[str, str, int]:
    return checkpoint.group, checkpoint.topic, checkpoint.partition
