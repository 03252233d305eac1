"""How a task's stream runs: in micro-batches, or in Spark's real-time mode. Pure decisions, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headrace.errors import ConnectError, RetriableError

Name = Literal["microbatch", "realtime"]
_GOOD = "stream.mode=auto: nothing is against it, and each partition has a task slot of Spark beside one for each core"
CLOSE = 10_000
"""A task that has no more records than this to read has caught up."""


@dataclass(frozen=True)
class Facts:
    """What matters for the choice.

    local: tasks run in this process; unable: why the connector cannot read for it; transactions: exactly once; schemas: they come
    with the records; fallible: a record may fail in the chain; routed: the topics follow from the source topics alone; drops: the
    chain may leave records out; interval: batches gather records for a while; behind: so many wait to be read.
    """

    local: bool
    unable: str | None
    transactions: bool
    schemas: bool
    fallible: bool
    routed: bool
    drops: bool
    interval: bool
    behind: int


@dataclass(frozen=True)
class Mode:
    """The mode, and why; passing: only until the task has caught up."""

    name: Name
    reason: str
    passing: bool = False


def without_facts(wanted: str, partitions: int, slots: int) -> Mode | None:
    """The mode, where `stream.mode` and the number of task slots decide that alone: each partition needs one for itself.

    Raises ConnectError if it is `realtime`, and that cannot be.
    """
    if wanted == "microbatch":
        return Mode("microbatch", "stream.mode=microbatch")
    if partitions <= slots:
        return None
    beside = "the one for all else" if wanted == "realtime" else "one for each core"
    return _refused(
        wanted,
        f"each of its {partitions} partitions holds a task slot of Spark, and there are {slots} for it beside {beside}; "
        "spark.master=local[N] gives more",
    )


def choose(wanted: str, facts: Facts) -> Mode:
    """The mode for `stream.mode=auto` and `realtime`. Raises ConnectError if it is `realtime`, and that cannot be."""
    problem = against(facts)
    if problem is None and wanted == "auto" and not facts.local:
        problem = "Spark's tasks run in other processes, where offsets could be stored between two batches only"
    if problem is not None:
        return _refused(wanted, problem)
    if wanted == "realtime":
        return Mode("realtime", "stream.mode=realtime")
    if facts.behind > CLOSE:  # which micro-batches are faster at
        reason = f"stream.mode=auto takes micro-batches until the task has caught up; {facts.behind} records are to be read."
        return Mode("microbatch", reason, passing=True)
    return Mode("realtime", _GOOD)


def _refused(wanted: str, problem: str) -> Mode:
    if wanted == "realtime":
        raise ConnectError(f"stream.mode=realtime is not possible: {problem}.")
    return _instead(problem)


def _instead(problem: str) -> Mode:
    return Mode("microbatch", f"stream.mode=auto takes micro-batches: {problem}.")


def without_slots(wanted: str) -> Mode:
    """What becomes of real-time mode if others hold the slots. Raises RetriableError if `stream.mode` is `realtime`."""
    problem = "other tasks in real-time mode hold the task slots of Spark"
    if wanted == "realtime":
        raise RetriableError(f"stream.mode=realtime has to wait: {problem}.")
    return _instead(problem)


def against(facts: Facts) -> str | None:
    """Why it cannot be real-time mode; None if it can."""
    rules = (
        (facts.unable is not None, str(facts.unable)),
        (facts.transactions, "the worker delivers exactly once, in transactions that end with a batch"),
        (facts.interval, "transaction.boundary=interval gathers records before they are written"),
        (facts.schemas, "schemas come with the records, so that each batch has to be looked at first"),
        (facts.fallible, "a record can fail in this chain, and failed records are handled batch by batch"),
        (not facts.routed, "the topics depend on the records, so that they cannot be created before the first one"),
        (facts.drops, "the chain can leave records out, so that it is not known which topics are in use"),
    )
    return next((text for applies, text in rules if applies), None)
