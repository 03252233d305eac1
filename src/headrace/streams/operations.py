"""The operations of processors: one frozen value per kind, with the user's functions.

The engine compiles the operations of a `Topology` (`ProcessorNode.operation`) to Columns: it calls the functions with Columns. A
value mapper may take the key as its first parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headrace.streams import functions
from headrace.streams.arguments import check_fields, check_serdes
from headrace.streams.options import Printed
from headrace.streams.suppressed import Suppressed
from headrace.streams.windows import JoinWindows, SessionWindows, Windows


class JoinKind(StrEnum):
    """Which records without a partner are passed on."""

    INNER = "inner"
    LEFT = "left"
    OUTER = "outer"


class EmitStrategy(StrEnum):
    """When a windowed aggregation passes on a result (KIP-825)."""

    ON_WINDOW_UPDATE = "on_window_update"
    ON_WINDOW_CLOSE = "on_window_close"

    @classmethod
    def on_window_update(cls) -> EmitStrategy:
        """At every change; the default."""
        return cls.ON_WINDOW_UPDATE

    @classmethod
    def on_window_close(cls) -> EmitStrategy:
        """Once, when the window and its grace period are over."""
        return cls.ON_WINDOW_CLOSE


@dataclass(frozen=True)
class _UserOperation:
    """An operation with functions of the user's. Raises ArgumentError for one that is none."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class FilterOperation(_UserOperation):
    """Keep the records for which the predicate is true."""

    predicate: functions.KeyValueFunction
    """Takes key and value."""
    negate: bool = False
    """Keeps the records for which it is false."""


@dataclass(frozen=True)
class SelectKey(_UserOperation):
    """A new key from key and value."""

    mapper: functions.KeyValueFunction


@dataclass(frozen=True)
class Map(_UserOperation):
    """A new key and value from key and value."""

    mapper: functions.KeyValueFunction


@dataclass(frozen=True)
class MapValues(_UserOperation):
    """A new value."""

    mapper: functions.ValueMapper


@dataclass(frozen=True)
class FlatMap(_UserOperation):
    """Any number of keys and values from key and value."""

    mapper: functions.KeyValueFunction


@dataclass(frozen=True)
class FlatMapValues(_UserOperation):
    """Any number of values."""

    mapper: functions.ValueMapper


@dataclass(frozen=True)
class Peek(_UserOperation):
    """A side effect."""

    action: functions.ValueMapper
    """Called in this process with values, no Columns: with key and value, or the value alone; as that of `ForEach`."""


@dataclass(frozen=True)
class ForEach(_UserOperation):
    """A side effect, with nothing behind it."""

    action: functions.ValueMapper


@dataclass(frozen=True)
class Print:
    """Text of every record."""

    printed: Printed
    label: str
    """The text before each record."""


@dataclass(frozen=True)
class Branch:
    """Each record goes to the first child whose predicate is true."""

    predicates: tuple[tuple[functions.Function, str], ...] = ()
    """Each with the name of its child."""
    default: str | None = None
    """The child of all other records; without one they are dropped."""


@dataclass(frozen=True)
class PassThrough:
    """Records as they are: a branch, a merge, the end of a join."""


@dataclass(frozen=True)
class RepartitionFilter:
    """Before a repartition topic: drops records without a key, unless a left or outer join behind it needs them (KIP-962)."""

    drops_null_keys: bool = False


@dataclass(frozen=True)
class _Supplied(_UserOperation):
    """An operation of objects that a supplier of the user's makes."""

    supplier: functions.Function

    def __post_init__(self) -> None:
        super().__post_init__()
        check_serdes(self.supplier)


@dataclass(frozen=True)
class UserProcessor(_Supplied):
    """A user processor."""

    keeps_key: bool = False
    """Whether it is that of `process_values`, which must not change the key."""


@dataclass(frozen=True)
class Count:
    """How many records; of a table: how many rows."""


@dataclass(frozen=True)
class Reduce(_UserOperation):
    """Combines two values."""

    reducer: functions.Reducer
    subtractor: functions.Reducer | None = None
    """For a table only: takes the aggregate and an old value that leaves it."""


@dataclass(frozen=True)
class Fold(_UserOperation):
    """Adds a value to an aggregate."""

    initializer: functions.Initializer
    aggregator: functions.Aggregator
    """Takes key, value and aggregate."""
    merger: functions.Aggregator | None = None
    """For sessions only: takes the key and the aggregates of two sessions that become one."""
    subtractor: functions.Aggregator | None = None
    """For a table only: takes the key, an old value and the aggregate that it leaves."""


Aggregation = Count | Reduce | Fold


@dataclass(frozen=True)
class StreamAggregate:
    """Records per key, or per key and window, into the store."""

    aggregation: Aggregation
    store: str
    windows: Windows | SessionWindows | None = None
    """None aggregates by key alone."""
    emit: EmitStrategy = EmitStrategy.ON_WINDOW_UPDATE


@dataclass(frozen=True)
class TableAggregate:
    """Rows of a regrouped table into the store."""

    aggregation: Aggregation
    store: str


@dataclass(frozen=True)
class CogroupMerge:
    """The results of several aggregations into one store."""

    store: str


@dataclass(frozen=True)
class JoinBuffer:
    """Stores the records of one side of a stream-stream join."""

    store: str
    windows: JoinWindows


@dataclass(frozen=True)
class StreamJoin(_UserOperation):
    """One side of a stream-stream join: each record with those of the other side in `other_store`."""

    kind: JoinKind
    joiner: functions.ValueJoiner
    windows: JoinWindows
    other_store: str
    """The buffer of the other side."""
    shared_store: str | None
    """Where records wait that may remain without a partner."""


@dataclass(frozen=True)
class SelfJoin(_UserOperation):
    """A stream joined with itself over one store (`single.store.self.join`)."""

    joiner: functions.ValueJoiner
    windows: JoinWindows
    store: str


@dataclass(frozen=True)
class StreamTableJoin(_UserOperation):
    """Each record with the row of its key."""

    kind: JoinKind
    joiner: functions.ValueJoiner
    table: str
    """The node of that table."""
    grace_ms: int | None = None
    """How long records wait for the table; None joins them at once."""
    buffer: str | None = None
    """Where records wait for `grace_ms` (KIP-923)."""


@dataclass(frozen=True)
class GlobalTableJoin(_UserOperation):
    """Each record with the row of a derived key in a global store."""

    kind: JoinKind
    joiner: functions.GlobalValueJoiner
    key_selector: functions.KeyValueFunction
    """Takes key and value of the record, returns the row's key."""
    store: str


@dataclass(frozen=True)
class TableSource:
    """Turns records into changes of a table."""

    store: str
    """Materialized only if an operator needs it."""


@dataclass(frozen=True)
class ToStream:
    """Turns changes of a table into records."""


@dataclass(frozen=True)
class TableFilter(_UserOperation):
    """Rows for which the predicate is false are deleted downstream."""

    predicate: functions.KeyValueFunction
    negate: bool
    """Deletes those for which it is true."""
    store: str | None
    """None, as in the other operations of tables: the result has no store of its own."""


@dataclass(frozen=True)
class TableMapValues(_UserOperation):
    """A new value per row."""

    mapper: functions.ValueMapper
    store: str | None


@dataclass(frozen=True)
class TableTransformValues(_Supplied):
    """A new value per row, by a stateful user transformer."""

    store: str | None


@dataclass(frozen=True)
class Suppress:
    """Changes wait in the buffer."""

    suppressed: Suppressed
    wait_ms: int
    """For how long after the record, or after the end of its window."""
    store: str


@dataclass(frozen=True)
class TableGroupBy(_UserOperation):
    """A new key and value per row; the old ones are removed from their group."""

    selector: functions.KeyValueFunction
    """Takes key and value, returns the new ones."""


@dataclass(frozen=True)
class TableJoin(_UserOperation):
    """One side of a table-table join: each change with the other side's row."""

    kind: JoinKind
    joiner: functions.ValueJoiner
    other: str
    """The node of that table."""


@dataclass(frozen=True)
class TableJoinMerge:
    """Merges both sides' results of a table-table join, materialized if there is a store."""

    store: str | None


@dataclass(frozen=True)
class SubscriptionSend(_UserOperation):
    """Subscribes each row of the left table to the row of its foreign key (KIP-213)."""

    extractor: functions.ValueMapper
    """Takes the row's value, or key and value, returns the foreign key."""
    kind: JoinKind


@dataclass(frozen=True)
class SubscriptionReceive:
    """Stores the subscriptions."""

    store: str


@dataclass(frozen=True)
class SubscriptionJoin:
    """Responds to a new subscription with the right table's row."""

    table: str
    """The node of the right table."""


@dataclass(frozen=True)
class ForeignTableJoin:
    """Responds to all subscriptions to a right row that changed."""

    store: str
    receive: str
    """The node that stores them."""


@dataclass(frozen=True)
class ResponseJoin(_UserOperation):
    """Joins a response with the left table's row, if that has not changed meanwhile."""

    joiner: functions.ValueJoiner
    kind: JoinKind
    send: str
    """The node that sent the registration."""


Operation = (
    FilterOperation | SelectKey | Map | MapValues | FlatMap | FlatMapValues | Peek | ForEach | Print | Branch | PassThrough
    | RepartitionFilter | UserProcessor | StreamAggregate | TableAggregate | CogroupMerge | JoinBuffer | StreamJoin | SelfJoin
    | StreamTableJoin | GlobalTableJoin | TableSource | ToStream | TableFilter | TableMapValues | TableTransformValues
    | Suppress | TableGroupBy | TableJoin | TableJoinMerge | SubscriptionSend | SubscriptionReceive | SubscriptionJoin
    | ForeignTableJoin | ResponseJoin
)  # fmt: skip
