"""Processors of the user's: objects of Python that get record after record, and forward what they like (Kafka's Processor API).

What `process` takes is a supplier: something that is called without arguments for every task, and gives an object with
`process(record)`. It may have `init(context)` and `close()`. A class of one's own is a supplier of itself. The supplier, or the
processor, may have `key_serde` and `value_serde`: what it forwards is of their types, else of the types that it gets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.errors import StreamsError


@dataclass(frozen=True)
class Record:
    """A record in Python: key and value, timestamp in milliseconds, headers. Structs are Spark's `Row`."""

    key: Any
    value: Any
    timestamp: int
    headers: tuple[tuple[str, bytes], ...] = ()

    def with_key(self, key: Any) -> Record:
        """With another key."""
        return replace(self, key=key)

    def with_value(self, value: Any) -> Record:
        """With another value."""
        return replace(self, value=value)

    def with_timestamp(self, timestamp: int) -> Record:
        """With another time, in milliseconds. Raises StreamsError if it is negative."""
        if timestamp < 0:
            raise StreamsError(f"Malformed Record: timestamp may not be negative, but is {timestamp}.")
        return replace(self, timestamp=timestamp)

    def with_headers(self, headers: tuple[tuple[str, bytes], ...]) -> Record:
        """With other headers."""
        return replace(self, headers=tuple(headers))


@dataclass(frozen=True)
class ProcessorContext:
    """What a processor may do."""

    partition: int
    """Of its task."""
    _forward: Callable[[Record], None]

    def forward(self, record: Record) -> None:
        """Pass a record on to all that comes behind."""
        self._forward(record)

    def get_state_store(self, name: str) -> Any:
        """Raises StreamsError: processors have no stores here."""
        raise StreamsError(f"The store {name} cannot be had: processors with state stores are not run here.")

    def schedule(self, *given: Any) -> Any:
        """Raises StreamsError: nothing calls a processor but a record."""
        raise StreamsError("schedule is not run here: a processor is called for records only.")
