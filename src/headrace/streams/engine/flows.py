"""What goes from operator to operator in one batch: records of a stream, changes of a table, rows of a regrouped one, or what
two tables of a foreign-key join ask each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.operations import StreamAggregate

Ordered = Literal["task", "key", "not"]
"""All records of a task, those of a key of it, or none."""
Lookup = Callable[["DataFrame"], "DataFrame"]


@dataclass(frozen=True)
class Records:
    """Records of a stream. Columns p, k, v, t, o, h."""

    frame: DataFrame
    depth: int = 0
    """How many numbers `o` has, 0 if that differs."""
    ordered: Ordered = "task"
    """Which of them stand in their order, in one piece of the frame."""

    def order(self) -> list[Column]:
        """What the records of a task are sorted by."""
        from pyspark.sql import functions as F

        return [F.col("o")[i] for i in range(self.depth)] if self.depth else [F.col("o")]


@dataclass(frozen=True)
class Changes:
    """Changes of a table, at most one for each key and batch. Columns p, k, old, new, t, o; NULL is no row."""

    frame: DataFrame
    lookup: Lookup | None = None
    """Adds `sv` and `st`, value and time of the row that the table had for p and k before this batch; None: it is not kept
    anywhere.
    """
    versions: DataFrame | None = None
    """Columns p, k, v, o of every single change, for joins that look between two of them; `at` is where it is on its way through
    the nodes, which a table that is kept further down has it from.
    """
    has_old: bool = True
    """Whether `old` is known."""
    puts: DataFrame | None = None
    """Of a table with history, whose `frame` tells the changes of its last versions: p, k, old, new, t, o of every version that
    came, late ones as well (KIP-914).
    """
    as_of: Lookup | None = None
    """Of a table with history: adds `other`, the value that p and k had at the time `t`, as is known at the place `o`."""


@dataclass(frozen=True)
class Regrouped:
    """Rows of a table under another key: `add` says whether v comes into its group. Columns p, k, v, add, t, o."""

    frame: DataFrame


@dataclass(frozen=True)
class Questions:
    """Rows that ask for the row of another table: p, k (its key), v (the key of the row that asks), ask (what is wanted, a byte),
    hash (of the row that asks), home (the partition that wants the answer), t, o; behind the store of questions also `known`,
    whether the row had asked before.
    """

    frame: DataFrame


@dataclass(frozen=True)
class Answers:
    """Rows of another table for those who asked: p, k (the key of the row that asked), v (NULL: there is none), hash (of the row
    that asked), t, o; before they go through their topic also `home`, the partition.
    """

    frame: DataFrame


@dataclass(frozen=True)
class Pending:
    """Records that a cogroup will aggregate together with those of other streams."""

    records: Records
    operation: StreamAggregate
    node: str


Flow = Records | Changes | Regrouped | Questions | Answers | Pending
