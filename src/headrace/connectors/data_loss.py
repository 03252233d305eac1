"""Data losses of a source: records deleted before or after they were read; as values, in words, and as records. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from headrace.errors import ConnectError
from headrace.kafka.groups import Partition

Policy = Literal["fail", "rewind", "continue"]
Reason = Literal["recreated", "expired", "truncated"]
_MAX_NAMED = 5  # partitions that a sentence names


class ReadPosition(NamedTuple):
    """Where reading is to continue."""

    next: int
    """The next offset to read."""
    topic_id: str | None
    """Of the topic that it is an offset of; None: not known."""


class PartitionLog(NamedTuple):
    """The log of a partition."""

    begin: int
    """The first offset."""
    end: int
    """The offset after the last one."""
    topic_id: str | None
    """None: not known."""

    def __str__(self) -> str:
        return (
            f"offsets {self.begin} to {self.end - 1}" if self.end > self.begin else f"no records, its next offset is {self.end}"
        )


@dataclass(frozen=True)
class Loss:
    """A range of offsets of one partition."""

    partition: Partition
    reason: Reason
    """`recreated`: the topic was deleted and recreated, `expired`: records were deleted before they were read, `truncated`: the
    log ends before what was read of it.
    """
    first: int
    last: int | None
    """The last offset of the range, that one included; None: not known."""
    stored: ReadPosition
    """The stored position."""
    log: PartitionLog
    """The current log."""
    policy: Policy
    """What was asked for."""
    resumed: int | None
    """The offset at which reading continues, None: the task fails."""

    @property
    def records(self) -> int:
        """The number of offsets in the range; 0 if unknown."""
        return 0 if self.last is None else self.last - self.first + 1

    def fields(self) -> dict[str, Any]:
        """The fields for the log and the topic of losses."""
        topic, partition = self.partition
        return {
            "topic": topic,
            "partition": partition,
            "reason": self.reason,
            "first_lost": self.first,
            "last_lost": self.last,
            "stored_offset": self.stored.next - 1,
            "stored_topic_id": self.stored.topic_id,
            "topic_id": self.log.topic_id,
            "log_start": self.log.begin,
            "log_end": self.log.end,
            "action": self.policy,
            "resumed_at": self.resumed,
        }

    def __str__(self) -> str:
        topic, partition = self.partition
        ids = "" if self.log.topic_id is None else f", topic id {self.log.topic_id}"
        if self.reason == "recreated":
            lost = f"offset {self.first} and what followed, as the topic was deleted and recreated"
        elif self.reason == "expired":
            lost = f"offsets {self.first} to {self.last}, which were deleted before they were copied"
        else:
            lost = f"offsets {self.first} to {self.last}, which were copied and are beyond the end of the log now"
        stored = f"stored: offset {self.stored.next - 1}"
        if self.stored.topic_id is not None and self.stored.topic_id != self.log.topic_id:
            stored += f" of topic id {self.stored.topic_id}"
        return f"{topic}-{partition}: {lost} ({stored}; there now: {self.log}{ids})"


class DataLossError(ConnectError):
    """A task cannot continue because its source has lost records, which are in `losses`."""

    def __init__(self, losses: Sequence[Loss]) -> None:
        text = "; ".join(map(str, losses[:_MAX_NAMED])) + (
            f"; and {len(losses) - _MAX_NAMED} more" if len(losses) > _MAX_NAMED else ""
        )
        super().__init__(
            f"The source cluster has lost records of {text}. To resume, set source.data.loss to 'rewind' (copy from the "
            "beginning of what is there) or 'continue' (with what is there), or stop the connector and alter its offsets."
        )
        self.losses = tuple(losses)


def find(stored: Mapping[Partition, ReadPosition], logs: Mapping[Partition, PartitionLog], policy: Policy) -> list[Loss]:
    """The losses of partitions that have a stored position and a log, and where each continues."""
    losses_found = (
        _find_loss(partition, position, logs[partition], policy) for partition, position in stored.items() if partition in logs
    )
    return [loss for loss in losses_found if loss is not None]


def _find_loss(partition: Partition, stored: ReadPosition, log: PartitionLog, policy: Policy) -> Loss | None:
    another = stored.topic_id is not None and log.topic_id is not None and stored.topic_id != log.topic_id
    resumed = None if policy == "fail" else log.begin
    if another:
        return Loss(partition, "recreated", stored.next, None, stored, log, policy, resumed)
    if stored.next < log.begin:
        return Loss(partition, "expired", stored.next, log.begin - 1, stored, log, policy, resumed)
    if stored.next <= log.end:
        return None
    if policy == "continue" and stored.topic_id is not None:  # else it may be another topic, none of which was copied
        resumed = log.end
    return Loss(partition, "truncated", log.end, stored.next - 1, stored, log, policy, resumed)
