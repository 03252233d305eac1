"""How a task's stream runs: in micro-batches, or in Spark's real-time mode. Pure decisions, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrace.errors import ConnectError, RetriableError

Name = Literal["microbatch", "realtime"]
_UNPROVEN = (
    "stream.mode=auto takes micro-batches: real-time mode holds a task slot for every partition, and says what is copied late"
)


@dataclass(frozen=True)
class Facts:
    """What matters for the choice.

    partitions: how many are read, each of which needs a task slot; slots: how many there are for it; free: so many are free now;
    supported: whether the connector can read for it; transactions: exactly once; schemas: they come with the records; fallible: a
    record may fail in the chain; routed: the topics follow from the source topics alone; drops: the chain may leave records out;
    interval: batches gather records for a while.
    """

    partitions: int
    slots: int
    free: bool
    supported: bool
    transactions: bool
    schemas: bool
    fallible: bool
    routed: bool
    drops: bool
    interval: bool


@dataclass(frozen=True)
class Mode:
    """The mode, and why."""

    name: Name
    reason: str


def choose(wanted: str, facts: Facts) -> Mode:
    """The mode for `stream.mode`.

    Raises ConnectError if it is `realtime`, and that cannot be, RetriableError if it cannot be now.
    """
    if wanted == "microbatch":
        return Mode("microbatch", "stream.mode=microbatch")
    if wanted == "auto":
        return Mode("microbatch", _UNPROVEN)
    problem = against(facts)
    if problem is not None:
        raise ConnectError(f"stream.mode=realtime is not possible: {problem}.")
    if not facts.free:
        raise RetriableError("stream.mode=realtime has to wait: other tasks in real-time mode hold the task slots of Spark.")
    return Mode("realtime", "stream.mode=realtime")


def against(facts: Facts) -> str | None:
    """Why it cannot be real-time mode; None if it can."""
    rules = (
        (not facts.supported, "this connector needs the pauses between batches, or does not read from Kafka"),
        (facts.transactions, "the worker delivers exactly once, in transactions that end with a batch"),
        (facts.interval, "transaction.boundary=interval gathers records before they are written"),
        (facts.schemas, "schemas come with the records, so that each batch has to be looked at first"),
        (facts.fallible, "a record can fail in this chain, and failed records are handled batch by batch"),
        (not facts.routed, "the topics depend on the records, so that they cannot be created before the first one"),
        (facts.drops, "the chain can leave records out, so that it is not known which topics are in use"),
        (
            facts.partitions > facts.slots,
            f"each of its {facts.partitions} partitions holds a task slot of Spark, and there are {facts.slots} for it beside "
            "the one for all else; spark.master=local[N] gives more",
        ),
    )
    return next((text for applies, text in rules if applies), None)
