"""What operators pass on in one batch: records of a stream, changes of a table, rows of a regrouped table, or the subscription
registrations and responses of a foreign-key join.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headrace.streams.operations import StreamAggregate

Lookup = Callable[["DataFrame"], "DataFrame"]


@dataclass(frozen=True)
class Records:
    """Records of a stream. Columns p, k, v, t, o, h."""

    frame: DataFrame
    depth: int = 0
    """The length of `o`, 0 if it differs between records."""
    ordered: bool = True
    """Whether the records of a task are in its order, within one partition of the frame; else what writes them sorts."""

    def order(self) -> list[Column]:
        """The columns by which the records of a task are sorted."""
        return [F.col("o")[i] for i in range(self.depth)] if self.depth else [F.col("o")]


@dataclass(frozen=True)
class Changes:
    """Changes of a table, at most one for each key and batch, in no order. Columns p, k, old, new, t, o; NULL is no row."""

    frame: DataFrame
    lookup: Lookup | None = None
    """Adds `sv` and `st`, value and time of the row that the table had for p and k before this batch; None: the table is not
    materialized.
    """
    versions: DataFrame | None = None
    """Columns p, k, v, o of every single change, for joins with records between two changes; `at` is its place at this node,
    which becomes `o` where a table is materialized further downstream.
    """
    has_old: bool = True
    """Whether `old` is known."""
    puts: DataFrame | None = None
    """Of a versioned table, whose `frame` has the changes of the last versions: p, k, old, new, t, o of every put version,
    out-of- order ones as well (KIP-914).
    """
    as_of: Lookup | None = None
    """Of a versioned table: adds `other`, the value of p and k at the time `t`, as of the place `o`."""


@dataclass(frozen=True)
class Regrouped:
    """Rows of a table with another key: `add` tells whether v is added to its group or removed. Columns p, k, v, add, t, o."""

    frame: DataFrame


@dataclass(frozen=True)
class SubscriptionRegistrations:
    """Rows of the left table of a foreign-key join that subscribe to rows of the right one: p, k (foreign key), v (key of the
    left row), instruction (a byte), hash (of the left row), primary_partition (that of the left row, for the response), t, o;
    behind the subscription store also `was_subscribed`, whether it had the subscription before.
    """

    frame: DataFrame


@dataclass(frozen=True)
class SubscriptionResponses:
    """Rows of the right table of a foreign-key join for subscribed left rows: p, k (key of the left row), v (NULL: no right row),
    hash (of the left row), t, o; before their topic also `primary_partition`.
    """

    frame: DataFrame


@dataclass(frozen=True)
class AggregationInput:
    """Records to be aggregated, in a cogroup together with those of other streams."""

    records: Records
    operation: StreamAggregate
    node: str


Flow = Records | Changes | Regrouped | SubscriptionRegistrations | SubscriptionResponses | AggregationInput
