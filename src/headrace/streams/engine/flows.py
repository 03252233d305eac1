"""What goes from operator to operator in one batch: records of a stream, changes of a table, or rows of a regrouped one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.operations import StreamAggregate

Lookup = Callable[["DataFrame"], "DataFrame"]


@dataclass(frozen=True)
class Records:
    """Records of a stream. Columns p, k, v, t, o, h. depth: how many numbers `o` has, 0 if that differs."""

    frame: DataFrame
    depth: int = 0

    def order(self) -> list[Column]:
        """What the records of a task are sorted by."""
        from pyspark.sql import functions as F

        return [F.col("o")[i] for i in range(self.depth)] if self.depth else [F.col("o")]


@dataclass(frozen=True)
class Changes:
    """Changes of a table, at most one for each key and batch. Columns p, k, old, new, t, o; NULL is no row.

    lookup: adds `sv` and `st`, value and time of the row that the table had for p and k before this batch; None: it is not kept
    anywhere. versions: columns p, k, v, o of every single change, for joins that look between two of them. has_old: whether
    `old` is known.
    """

    frame: DataFrame
    lookup: Lookup | None = None
    versions: DataFrame | None = None
    has_old: bool = True


@dataclass(frozen=True)
class Regrouped:
    """Rows of a table under another key: `add` says whether v comes into its group. Columns p, k, v, add, t, o."""

    frame: DataFrame


@dataclass(frozen=True)
class Pending:
    """Records that a cogroup will aggregate together with those of other streams."""

    records: Records
    operation: StreamAggregate
    node: str


Flow = Records | Changes | Regrouped | Pending
