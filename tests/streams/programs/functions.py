"""The users' functions of the programs; record.py has the same in Java. What they do does not matter to a topology."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from headrace.streams import KStream, Serdes, StateStore, Stores


def _identity(*given: Any) -> Any:
    return given


PREDICATE = VALUE = VALUES = KEY = PAIR = PAIRS = ACTION = JOINER = REDUCER = UNREDUCER = START = ADD = SUBTRACT = _identity
MERGER = FOREIGN = PROCESSOR = FIXED = TRANSFORMER = _identity


class _Extractor:
    def __call__(self, key: Any, value: Any, context: Any) -> str:
        return "a"

    def __str__(self) -> str:
        return "EXTRACTOR"


class _Stateful:
    def __init__(self) -> None:
        supplier = Stores.persistent_key_value_store("own")
        self._own = Stores.key_value_store_builder(supplier, Serdes.string(), Serdes.string())

    def stores(self) -> list[StateStore]:
        return [self._own]


EXTRACTOR, STATEFUL = _Extractor(), _Stateful()


def CONSUMER(stream: KStream) -> None:
    stream.to("consumed")


def CHAIN(stream: KStream) -> KStream:
    return stream.map_values(VALUE)


def millis(number: int) -> timedelta:
    return timedelta(milliseconds=number)


def seconds(number: int) -> timedelta:
    return timedelta(seconds=number)


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


def hours(number: int) -> timedelta:
    return timedelta(hours=number)


def days(number: int) -> timedelta:
    return timedelta(days=number)
