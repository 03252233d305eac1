"""The users' functions of the programs; record.py has the same in Java. What those at the top do does not matter to a topology;
those at the end are run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

from headrace.streams import KStream, PunctuationType, Record, Serdes, StateStore, Stores
from tests.streams.programs.scripted import SCRIPTED  # noqa: F401


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

    def __call__(self) -> object:
        return object()


class KEEPER:
    """Keeps the last value of each key, and forwards it with the one before."""

    def init(self, context) -> None:
        self.context, self.rows = context, context.get_state_store("shared")

    def process(self, record) -> None:
        key = record.key or ""
        before = self.rows.get(key)
        self.rows.put(key, record.value)
        self.context.forward(record.with_value(f"{record.value or ''}<{before or ''}"))


class READER:
    """Puts the row that a table has for the key behind each value."""

    def init(self, context: Any) -> None:
        self._context, self._rows = context, context.get_state_store("read")

    def process(self, record: Any) -> None:
        row = None if record.key is None else self._rows.get(record.key)
        self._context.forward(record.with_value(f"{record.value or 'null'}-{'null' if row is None else row}"))


class _TwoTimes:
    """Forwards each record two times."""

    def init(self, context: Any) -> None:
        self._context = context

    def process(self, record: Any) -> None:
        for number in "12":
            self._context.forward(record.with_value(f"{record.value or ''}{number}"))


class _EveryTen:
    """Forwards each record, and the time every ten milliseconds of stream time and of the clock."""

    interval = 10

    def init(self, context: Any) -> None:
        self._context = context
        context.schedule(millis(self.interval), PunctuationType.STREAM_TIME, lambda time: self._tell("stream", time))
        context.schedule(millis(self.interval), PunctuationType.WALL_CLOCK_TIME, lambda time: self._tell("clock", time))

    def process(self, record: Any) -> None:
        self._context.forward(record.with_value(f"{record.value or ''}-{self.interval}"))

    def _tell(self, key: str, time: int) -> None:
        self._context.forward(Record(key, f"{time}/{self.interval}", time))


class _EveryFive(_EveryTen):
    """The same every five milliseconds."""

    interval = 5


class NUMBERED:
    """Numbers the values that it gets, by key."""

    def init(self, context: Any) -> None:
        self._numbers = context.get_state_store("numbers")

    def transform(self, key: str, value: str | None) -> str:
        number = (self._numbers.get(key) or "") + "1"
        self._numbers.put(key, number)
        return f"{value or 'null'}{number}"


EXTRACTOR, STATEFUL = _Extractor(), _Stateful()
TWO_TIMES, EVERY_TEN, EVERY_FIVE = _TwoTimes, _EveryTen, _EveryFive


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


def BOTH(left: Any, right: Any) -> Any:
    return F.concat_ws("-", *[F.coalesce(side.cast("string"), F.lit("null")) for side in (left, right)])


def NOT_A(key: Any, value: Any) -> Any:
    return ~key.eqNullSafe("a")


def UPPER(value: Any) -> Any:
    return F.upper(value)


def TEXT(value: Any) -> Any:
    return value.cast("string")


def TWICE(value: Any) -> Any:
    text = F.coalesce(value, F.lit("null"))
    return [F.concat(text, F.lit("1")), F.concat(text, F.lit("2"))]


def BY_VALUE(key: Any, value: Any) -> Any:
    return value, key


def OWN_KEY(key: Any, value: Any) -> Any:
    return key


def IN_WINDOW(key: Any, value: Any) -> Any:
    return F.concat(key["key"], F.lit("@"), key["start"].cast("string"))


def WITH_BOUNDS(key: Any, value: Any) -> Any:
    return F.concat(key["key"], F.lit("@"), key["start"].cast("string"), F.lit("-"), key["end"].cast("string"))


def OF_KEY(key: Any, value: Any) -> Any:
    return key["key"], value


def ZERO() -> Any:
    return "0"


def LONGER(key: Any, value: Any, before: Any) -> Any:
    return (before.cast("int") + F.length(value)).cast("string")


def SHORTER(key: Any, value: Any, before: Any) -> Any:
    return (before.cast("int") - F.length(value)).cast("string")


def FIRST_LETTER(value: Any) -> Any:
    return F.when(~value.startswith("?"), F.substring(value, 1, 1))


def CHAINED(stream: KStream) -> KStream:
    return stream.map_values(UPPER)


def REDIRECTED(stream: KStream) -> None:
    stream.flat_map_values(TWICE).to("out")


def ROW(key: Any, value: Any) -> Any:
    return value.startswith("t")


def NONE_IF_X(value: Any) -> Any:
    return F.when(value != "tx", value)


def CONCAT(one: Any, other: Any) -> Any:
    return F.concat(one, other)


def WITHOUT(one: Any, other: Any) -> Any:
    return F.replace(one, other, F.lit(""))


def EMPTY() -> Any:
    return ""


def APPEND(key: Any, value: Any, before: Any) -> Any:
    return F.concat(before, F.coalesce(value, F.lit("null")))


def CONCATENATED(key: Any, one: Any, other: Any) -> Any:
    return F.concat(one, other)
