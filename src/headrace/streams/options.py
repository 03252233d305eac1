"""Options of operators: names, serdes, partitions. Kafka's `Consumed`, `Grouped` and so on.

Each is a frozen value; `with_…` gives a changed copy. An operator takes them in any order, or by keyword: the class's name in
snake case (`named=`, `stream_joined=`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from headrace.errors import ArgumentError
from headrace.kafka.reset_policy import check_policy
from headrace.streams.arguments import check_fields, choice
from headrace.streams.durations import Duration, by_duration, milliseconds
from headrace.streams.functions import KeyValueFunction, Partitioner, TimestampExtractor
from headrace.streams.naming import valid_name
from headrace.streams.serdes import Serde
from headrace.streams.stores import StoreSupplier, StoreType


@dataclass(frozen=True)
class _Option:
    """Something with a name, which operators check that are called by it: as in Kafka not all of them. Raises ArgumentError for
    what is given as another thing: a text as a serde.
    """

    name: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def as_(cls, name: str) -> Self:
        """With a name; the trailing underscore because `as` is a word of Python."""
        return cls(name=name)

    def with_name(self, name: str) -> Self:
        """With another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class _Formats(_Option):
    """Something with a name and formats of key and value."""

    key_serde: Serde | None = None
    value_serde: Serde | None = None

    def with_key_serde(self, key_serde: Serde | None) -> Self:
        """With another format of keys."""
        return replace(self, key_serde=key_serde)

    def with_value_serde(self, value_serde: Serde | None) -> Self:
        """With another format of values."""
        return replace(self, value_serde=value_serde)


@dataclass(frozen=True)
class Named(_Option):
    """The name of an operator. Raises TopologyError for an illegal one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name is not None:
            valid_name(self.name)


class AutoOffsetReset:
    """Where a topic without a committed offset is read from (KIP-1106); a `Consumed` takes it."""

    @staticmethod
    def earliest() -> str:
        """From its first record on."""
        return "earliest"

    @staticmethod
    def latest() -> str:
        """What comes from now on."""
        return "latest"

    @staticmethod
    def none() -> str:
        """Not at all: the application fails."""
        return "none"

    @staticmethod
    def by_duration(duration: Duration) -> str:
        """From the first record on that is not older than this when the application begins; without one, what comes from now on.

        Raises ArgumentError for a negative duration.
        """
        return by_duration(duration)


@dataclass(frozen=True)
class Consumed(_Formats):
    """How a topic is read. Raises ConfigError for a reset policy that Kafka does not have."""

    timestamp_extractor: TimestampExtractor | None = None
    """Takes key, value and the record's own time in ms, as Columns, returns the time to use; None: the record's own."""
    reset_policy: str | None = None
    """`earliest`, `latest`, `none` or `by_duration:<ISO duration>`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reset_policy is not None:
            check_policy(self.reset_policy)

    @classmethod
    def with_(cls, *arguments: Any) -> Self:
        """`with_(key_serde, value_serde)`, also with an extractor and a reset policy behind them, or one of these two alone."""
        if len(arguments) == 1 and isinstance(arguments[0], str):
            return cls(reset_policy=arguments[0])
        if len(arguments) == 1 and callable(arguments[0]):
            return cls(timestamp_extractor=arguments[0])
        return cls(None, *arguments)

    def with_timestamp_extractor(self, timestamp_extractor: Callable[..., Any] | None) -> Self:
        """With a function that gives a record's time."""
        return replace(self, timestamp_extractor=timestamp_extractor)

    def with_offset_reset_policy(self, reset_policy: str | None) -> Self:
        """With the place to begin at if there is no committed offset."""
        return replace(self, reset_policy=reset_policy)


@dataclass(frozen=True)
class Produced(_Formats):
    """How a topic is written."""

    partitioner: Partitioner | None = None
    """Takes the Columns of topic, key, value and number of partitions, returns that of the partition; None: the producer's."""

    @classmethod
    def with_(
        cls, key_serde: Serde | None = None, value_serde: Serde | None = None, partitioner: Partitioner | None = None
    ) -> Self:
        """With formats of key and value, and the function that chooses a partition."""
        return cls(None, key_serde, value_serde, partitioner)

    @classmethod
    def stream_partitioner(cls, partitioner: Partitioner | None) -> Self:
        """With the function that chooses a partition."""
        return cls(partitioner=partitioner)

    def with_stream_partitioner(self, partitioner: Partitioner | None) -> Self:
        """With the function that chooses a partition."""
        return replace(self, partitioner=partitioner)


@dataclass(frozen=True)
class Grouped(_Formats):
    """How records are grouped by key; the name is that of the repartition topic, if one is needed."""

    @classmethod
    def with_(cls, *arguments: str | Serde | None) -> Self:
        """`with_(key_serde, value_serde)` or `with_(name, key_serde, value_serde)`."""
        name, key_serde, value_serde = arguments if len(arguments) == 3 else (None, *arguments, *[None] * (2 - len(arguments)))
        return cls(name, key_serde, value_serde)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Repartitioned(_Formats):
    """How `repartition` writes its topic; the name is the topic's."""

    partitions: int | None = None
    """None derives it from the topics that the records come from."""
    partitioner: Partitioner | None = None
    """As that of `Produced`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.partitions is not None and self.partitions < 1:
            raise ArgumentError("Number of partitions must be at least 1.")

    @classmethod
    def with_(cls, key_serde: Serde | None = None, value_serde: Serde | None = None) -> Self:
        """With formats of key and value."""
        return cls(None, key_serde, value_serde)

    @classmethod
    def number_of_partitions(cls, number_of_partitions: int) -> Self:
        """With a number of partitions. Raises ArgumentError below 1."""
        return cls(partitions=number_of_partitions)

    @classmethod
    def stream_partitioner(cls, partitioner: Partitioner) -> Self:
        """With the function that chooses a partition."""
        return cls(partitioner=partitioner)

    def with_number_of_partitions(self, number_of_partitions: int) -> Self:
        """With a number of partitions. Raises ArgumentError below 1."""
        return replace(self, partitions=number_of_partitions)

    def with_stream_partitioner(self, partitioner: Partitioner) -> Self:
        """With the function that chooses a partition."""
        return replace(self, partitioner=partitioner)


@dataclass(frozen=True)
class Joined(_Formats):
    """How a stream is joined with a table."""

    other_value_serde: Serde | None = None
    """Of the table's values; has no effect, for these are read already."""
    grace_ms: int | None = None
    """How long records wait for the table (needs a versioned one)."""

    @classmethod
    def with_(
        cls, key_serde: Serde | None = None, value_serde: Serde | None = None, other_value_serde: Serde | None = None
    ) -> Self:
        """With formats of key, value and the table's value."""
        return cls(None, key_serde, value_serde, other_value_serde)

    def with_other_value_serde(self, other_value_serde: Serde | None) -> Self:
        """With another format of the table's values."""
        return replace(self, other_value_serde=other_value_serde)

    def with_grace_period(self, grace_period: Duration) -> Self:
        """With time for records that come before their row of the table (KIP-923). Raises ArgumentError."""
        return replace(self, grace_ms=milliseconds(grace_period, "grace_period"))


@dataclass(frozen=True)
class StreamJoined(_Formats):
    """How two streams are joined, and where their records wait for each other."""

    other_value_serde: Serde | None = None
    """Of the other side's values, where they wait and where they are repartitioned."""
    store_name: str | None = None
    """What the stores' names begin with; None makes them of the names of the operators."""
    this_store_supplier: StoreSupplier | None = None
    """Has to retain duplicates, for as long as the windows do."""
    other_store_supplier: StoreSupplier | None = None
    logging_enabled: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)
    """Settings of changelog topics; a store with a supplier has the defaults."""
    store_type: StoreType | None = None
    """Of stores without a supplier."""

    @classmethod
    def as_(cls, name: str) -> Self:
        """With a name of the stores; `with_name` names the operators."""
        return cls(store_name=name)

    @classmethod
    def with_(cls, *arguments: Any) -> Self:
        """`with_(key_serde, value_serde, other_value_serde)`, `with_(this_store_supplier, other_store_supplier)` or
        `with_(store_type)`.
        """
        if len(arguments) == 1 and isinstance(arguments[0], StoreType):
            return cls(store_type=arguments[0])
        if len(arguments) == 2 and all(isinstance(supplier, StoreSupplier) for supplier in arguments):
            return cls(this_store_supplier=arguments[0], other_store_supplier=arguments[1])
        return cls(None, *arguments)

    def with_store_name(self, store_name: str) -> Self:
        """With another name of the stores."""
        return replace(self, store_name=store_name)

    def with_other_value_serde(self, other_value_serde: Serde | None) -> Self:
        """With another format of the other side's values."""
        return replace(self, other_value_serde=other_value_serde)

    def with_this_store_supplier(self, supplier: StoreSupplier) -> Self:
        """With a storage of this side's records."""
        return replace(self, this_store_supplier=supplier)

    def with_other_store_supplier(self, supplier: StoreSupplier) -> Self:
        """With a storage of the other side's records."""
        return replace(self, other_store_supplier=supplier)

    def with_dsl_store_suppliers(self, store_type: StoreType) -> Self:
        """With a type of all stores that have no supplier. Raises ArgumentError for another one."""
        return replace(self, store_type=choice(StoreType, store_type, "store_type"))

    def with_logging_enabled(self, config: Mapping[str, str]) -> Self:
        """With changelog topics that have these settings."""
        return replace(self, logging_enabled=True, topic_config=dict(config))

    def with_logging_disabled(self) -> Self:
        """Without changelog topics."""
        return replace(self, logging_enabled=False, topic_config={})


@dataclass(frozen=True)
class TableJoined(_Option):
    """How two tables are joined by a foreign key."""

    partitioner: Partitioner | None = None
    """Of this table: takes a topic's name, key, value and number of partitions. Responses go where it says."""
    other_partitioner: Partitioner | None = None
    """Of the other table: registrations go where it says."""

    @classmethod
    def with_(cls, partitioner: Partitioner | None = None, other_partitioner: Partitioner | None = None) -> Self:
        """With the functions that chose the partitions of this table and the other."""
        return cls(None, partitioner, other_partitioner)

    def with_partitioner(self, partitioner: Partitioner | None) -> Self:
        """With the function that chose the partitions of this table."""
        return replace(self, partitioner=partitioner)

    def with_other_partitioner(self, other_partitioner: Partitioner | None) -> Self:
        """With the function that chose the partitions of the other table."""
        return replace(self, other_partitioner=other_partitioner)


@dataclass(frozen=True)
class Branched(_Option):
    """A branch of `split`: its name, and a function that is applied to it."""

    chain: Callable[[Any], Any] | None = None
    """Takes the KStream of the branch, returns one or None."""
    ends: bool = False
    """Whether the stream that `chain` returns is not put in the map of branches."""

    @classmethod
    def with_function(cls, chain: Callable[[Any], Any], name: str | None = None) -> Self:
        """The result of the function, unless None, is in the map of branches instead of the branch."""
        return cls(name, chain)

    @classmethod
    def with_consumer(cls, chain: Callable[[Any], Any], name: str | None = None) -> Self:
        """The function takes the branch, which then is not in the map of branches."""
        return cls(name, chain, ends=True)


@dataclass(frozen=True)
class Printed(_Option):
    """Where `print` prints: standard output, or a file."""

    file: Path | None = None
    """None prints to standard output; records are added at the end of a file."""
    label: str | None = None
    """The text in brackets before each record; None is the name of the stream."""
    mapper: KeyValueFunction | None = None
    """Takes key and value, returns a record's text; None is `key, value`, as Java prints them."""

    @classmethod
    def to_sys_out(cls) -> Self:
        """To standard output."""
        return cls()

    @classmethod
    def to_file(cls, file_path: str | Path) -> Self:
        """To a file."""
        return cls(file=Path(file_path))

    def with_label(self, label: str) -> Self:
        """With a text before each record."""
        return replace(self, label=label)

    def with_key_value_mapper(self, mapper: Callable[..., Any]) -> Self:
        """With a function that makes the text of a record."""
        return replace(self, mapper=mapper)


def take_one(option: Any, kind: type) -> Any:
    """The only option of an operator, or None. Raises ArgumentError for one of another kind."""
    return take(() if option is None else (option,), {}, kind)[0]


def take(options: tuple[Any, ...], keywords: dict[str, Any], *kinds: type) -> list[Any]:
    """The options of an operator, one for each kind, None where it is not given.

    options: in any order; keywords: by the kind's name in snake case. Raises ArgumentError for one too many or of another kind.
    """
    by_kind: dict[type, Any] = {}
    by_name = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in kinds}
    unknown = [f"{name}=" for name in keywords if name not in by_name]
    for value in (*options, *(keywords[name] for name in keywords if name in by_name)):
        kind = next((kind for kind in kinds if isinstance(value, kind)), None)
        if kind is None or kind in by_kind:
            unknown.append(repr(value))
        else:
            by_kind[kind] = value
    if unknown:
        expected = " and ".join(f"one {kind.__name__}" for kind in kinds)
        raise ArgumentError(f"This operator takes {expected} at most, but was given {', '.join(unknown)}.")
    return [by_kind.get(kind) for kind in kinds]
