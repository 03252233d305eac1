"""How the partitions of the source cluster are dealt to tasks (KIP-310). Pure.

A task gets neighbours in the order of `<leader>:<topic>:<partition>` as text, so that it has as few leaders as
possible to talk to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from headrace.errors import ConfigError

TASK_PARTITIONS = "task.leader.topic.partitions"
"""The property of a task's configuration that lists its partitions; set by the connector, never by the user."""

NO_LEADER = -1


class LeaderTopicPartition(NamedTuple):
    """A partition of the source cluster and the broker that leads it."""

    leader: int
    """The id of the broker, NO_LEADER while there is none."""
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.leader}:{self.topic}:{self.partition}"


def group(partitions: Iterable[LeaderTopicPartition], max_groups: int) -> list[list[LeaderTopicPartition]]:
    """Cut partitions into at most `max_groups` groups, one per task; their sizes differ by at most one, none is empty.

    The same set gives the same groups, whatever its order.
    """
    ordered = sorted(set(partitions), key=str)
    count = min(max_groups, len(ordered))
    if count < 1:
        return []
    size, larger = divmod(len(ordered), count)
    starts = [n * size + min(n, larger) for n in range(count + 1)]
    return [ordered[start:end] for start, end in pairwise(starts)]


def encode(partitions: Sequence[LeaderTopicPartition]) -> str:
    """The value of TASK_PARTITIONS. Names of topics contain neither colons nor commas."""
    return ",".join(map(str, partitions))


def decode(text: str) -> list[LeaderTopicPartition]:
    """The reverse of `encode`. Raises ConfigError for other texts."""
    return [_decode(part, text) for part in text.split(",")] if text else []


def _decode(part: str, text: str) -> LeaderTopicPartition:
    try:
        leader, topic, partition = part.split(":")
        return LeaderTopicPartition(int(leader), topic, int(partition))
    except ValueError:
        why = f"'{part}' is not of the form <leader>:<topic>:<partition>"
        raise ConfigError.invalid(TASK_PARTITIONS, text, why) from None
