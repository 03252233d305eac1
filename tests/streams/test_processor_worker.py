"""Processors as a worker of Spark's has them, without Spark: rows of a task go in, and what follows from them comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyarrow import Table
from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from headrace.errors import StreamsError
from headrace.streams import ProcessorContext, PunctuationType, Record, Serdes, Stores
from headrace.streams.engine.processor_link import TaskTimes
from headrace.streams.engine.processor_worker import ROW_COLUMNS, ProcessorRows, RowChunk, WorkerProcessor, _ProcessedTask
from headrace.streams.processor_stores import PUT_RETURN_CODE_NOT_PUT, StoreAccess
from headrace.streams.row_headers import headers_of, prepend_headers
from headrace.streams.stores import StateStore

RESULT_COLUMNS = ("p", "t", "o", "h", "m", "store", "key", "value", "old", "due")
STREAM_TIME = -2  # what a row with the stream time of a store has as `due`


class Acting:
    """A processor that does what a test says: `init` with its context, `act` with its context and each record."""

    def __init__(self, init: Callable[[Any], Any] | None, act: Callable[[Any, Record], Any]) -> None:
        self._init, self._act = init or (lambda context: None), act

    def init(self, context: ProcessorContext) -> None:
        self._context = context
        self._init(context)

    def process(self, record: Record) -> None:
        self._act(self._context, record)


def forward(context: ProcessorContext, record: Record) -> None:
    context.forward(record)


def clocked(context: ProcessorContext) -> None:
    context.schedule(1000, PunctuationType.WALL_CLOCK_TIME, lambda time: context.forward(Record("clock", None, time)))


def early(context: ProcessorContext) -> None:
    context.forward(Record("early", None, 1))


class Stored:
    """What stores hold: rows of one task by their keys, each its time and its value."""

    def __init__(self, rows: Mapping[bytes, bytes]) -> None:
        self._rows = {bytes(4) + key: row for key, row in rows.items()}

    def get(self, store: str, keys: Any) -> list[bytes | None]:
        return [self._rows.get(key) for key in keys]

    def scan(self, store: str, start: bytes, end: bytes, backwards: bool) -> Any:
        return ((key, self._rows[key]) for key in sorted(self._rows, reverse=backwards) if start <= key < end)


def worker(node: str, init: Any = None, act: Any = forward, **more: Any) -> WorkerProcessor:
    return WorkerProcessor(node, lambda: Acting(init, act), **{"keeps_key": False, "forwards": (), **more})


def row(
    place: list[int],
    key: str | None = "k",
    value: str | None = "v",
    *,
    time: int = 5,
    count: int = 1,
    number: int = 0,
    headers: Any = None,
) -> tuple[Any, ...]:
    """A row for one of some processors."""
    pairs: list[Any] = [None] * (2 * count)
    pairs[2 * number : 2 * number + 2] = key, value
    return (0, place, time, headers, number, None, None, None, *pairs)


def schema(count: int, *names: str) -> StructType:
    """Columns of rows or results for so many processors, whose keys and values are texts."""
    headers = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
    kinds: dict[str, DataType] = {
        "p": IntegerType(),
        "o": ArrayType(LongType()),
        "t": LongType(),
        "h": headers,
        "m": IntegerType(),
    }
    kinds |= dict.fromkeys(("key", "value", "old"), BinaryType()) | {"due": IntegerType()}
    pairs = [f"{part}{number}" for number in range(count) for part in "kv"]
    return StructType([StructField(name, kinds.get(name, StringType())) for name in (*names, *pairs)])


def run(
    rows: list[tuple[Any, ...]], *processors: WorkerProcessor, depth: int = 0, stores: Mapping[str, StateStore] | None = None,
    global_stores: Mapping[str, StateStore] | None = None, now: int = 0, times: Mapping[str, int] | None = None,
    stored: Mapping[bytes, bytes] | None = None,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """What comes out of a task whose schedules by the clock are due."""
    kinds = StringType(), StringType()
    access = {name: StoreAccess(store, kinds, "socket") for name, store in (stores or {}).items()}
    access |= {name: StoreAccess(store, kinds, "socket", is_global=True) for name, store in (global_stores or {}).items()}
    incoming, outgoing = schema(len(processors), *ROW_COLUMNS), schema(len(processors), *RESULT_COLUMNS).add("to", "string")
    processor_rows = ProcessorRows(processors, access, "socket", depth, (incoming, outgoing))
    tasks = [TaskTimes(0, -1, {0: 0}) for _ in processors]
    links: Any = {"socket": Stored(stored or {})}
    batches = LocalDataToArrowConversion.convert(rows, incoming, False).to_batches() if rows else []
    task = _ProcessedTask(processor_rows, processors, links, tasks, now, times or {})
    results = list(task.run(RowChunk(batch, incoming) for batch in batches))
    return ArrowTableToRowsConversion.convert(Table.from_batches(results), outgoing, return_as_tuples=True)  # type: ignore[return-value]


def forwarded(rows: list[tuple[Any, ...]]) -> list[tuple[list[int], int, str]]:
    """Place, number of the processor, and key, of what was forwarded."""
    return [(values[2], values[4], values[10 + 2 * values[4]]) for values in rows if values[2] is not None]


def kept(name: str = "kept") -> StateStore:
    return Stores.key_value_store_builder(Stores.in_memory_key_value_store(name), Serdes.string(), Serdes.string())


@pytest.mark.parametrize("kind", PunctuationType)
def test_a_schedule_that_is_not_made_in_init_is_refused_because_it_would_be_lost(kind: PunctuationType) -> None:
    def late(context: ProcessorContext, record: Record) -> None:
        context.schedule(1000, kind, lambda time: None)

    with pytest.raises(StreamsError, match="A schedule has to be made in init, which runs with every batch"):
        run([row([0])], worker("one", act=late))


def test_a_punctuation_may_be_given_as_its_text() -> None:
    def init(context: ProcessorContext) -> None:
        for kind in PunctuationType:
            text: Any = str(kind)
            context.schedule(10, text, lambda time, text=text: context.forward(Record(text, None, time)))
        with pytest.raises(StreamsError, match=r"`punctuation` is 'clock', but should be PunctuationType\.STREAM_TIME or"):
            context.schedule(10, "clock", lambda time: None)  # type: ignore[arg-type]

    records = forwarded(run([row([0])], worker("one", init), now=10))
    assert [key for _, _, key in records] == ["k", "stream_time"]


def test_of_several_schedules_that_are_due_the_one_that_was_due_first_is_called_first() -> None:
    def init(context: ProcessorContext) -> None:
        for interval in (10, 3, 7):
            tell = lambda time, interval=interval: context.forward(Record(str(interval), None, time))  # noqa: E731
            context.schedule(interval, PunctuationType.STREAM_TIME, tell)

    rows = [row([place], key, time=time) for place, (key, time) in enumerate((("a", 0), ("b", 11)))]
    records = [key for _, _, key in forwarded(run(rows, worker("one", init)))]
    assert records == ["a", "10", "3", "7", "b", "3", "7", "10"]


def test_what_init_forwards_has_a_place_of_as_many_numbers_before_all_records() -> None:
    records = forwarded(run([row([0, 0, 0])], worker("one", early), depth=3))
    assert [key for _, _, key in records] == ["early", "k"]
    assert {len(place) for place, _, _ in records} == {4}
    assert sorted(records) == records


def test_what_members_of_a_group_forward_from_init_stands_in_the_order_of_the_members() -> None:
    rows = [row([-1, 0], "early of another", count=2, number=1), row([0], count=2)]
    records = forwarded(run(rows, worker("one", early), worker("two", early)))
    assert [(number, key) for _, number, key in records] == [(0, "early"), (1, "early"), (1, "early of another"), (0, "k")]
    assert sorted(records) == records
    assert len({tuple(place) for place, _, _ in records}) == 4


def test_what_members_of_a_group_forward_at_the_end_stands_in_the_order_of_the_members() -> None:
    one, two = worker("one", clocked, forwards=((1, None),)), worker("two", clocked)
    rows = [row([0], count=2, number=1), row([(1 << 62) + 1, 0], "clock of another", count=2, number=1)]
    records = forwarded(run(rows, one, two, now=2000))
    assert [(number, key) for _, number, key in records] == [
        (1, "k"), (1, "clock of another"), (0, "clock"), (1, "clock"), (1, "clock"),
    ]  # fmt: skip
    assert sorted(records) == records
    assert len({(number, *place) for place, number, _ in records}) == 5
    assert all(abs(one) < 1 << 63 for place, *_ in records for one in place)


def test_a_header_may_be_null_on_its_way_and_in_a_store() -> None:
    headers = [("none", None), ("empty", b""), ("some", bytearray(b"x"))]
    (record,) = [values for values in run([row([0], headers=headers)], worker("one")) if values[2] is not None]
    assert record[3] == [("none", None), ("empty", b""), ("some", b"x")]
    assert headers_of(prepend_headers(record[3], b"value")) == tuple(record[3])


def test_a_member_of_a_group_reaches_the_stores_that_it_is_connected_with_and_global_ones() -> None:
    def look(context: ProcessorContext) -> None:
        context.get_state_store("common")
        context.get_state_store("global")
        context.get_state_store("own")

    stores, global_stores = {name: kept(name) for name in ("common", "own")}, {"global": kept("global")}
    one, two = (worker(name, look, stores=frozenset(own)) for name, own in (("one", {"common", "own"}), ("two", {"common"})))
    run([], one, stores=stores, global_stores=global_stores)
    with pytest.raises(StreamsError, match="The processor has no access to the store own"):
        run([], one, two, stores=stores, global_stores=global_stores)


def test_windows_and_sessions_have_the_greatest_time_that_was_put_into_them() -> None:
    windows = Stores.window_store_builder(Stores.in_memory_window_store("w", 100, 10, False), Serdes.string(), Serdes.string())
    sessions = Stores.session_store_builder(Stores.in_memory_session_store("s", 100), Serdes.string(), Serdes.string())

    found: list[Any] = []

    def put(context: ProcessorContext, record: Record) -> None:
        context.get_state_store("w").put(record.key, "x", 30)
        context.get_state_store("w").put(record.key, "x", 20)
        context.get_state_store("s").put((record.key, 40, 45), None)
        found.append((context.get_state_store("w").fetch("k", -10), context.get_state_store("s").fetch_session("k", -10, 5)))

    stores = {"w": windows, "s": sessions, "kept": kept()}
    writes, reads = (worker(name, act=act, stores=frozenset(stores)) for name, act in (("writes", put), ("reads", forward)))
    late = run([row([0])], writes, stores=stores, times={"w": -1, "s": 90})
    none = run([row([0])], reads, stores=stores, times={"w": -1, "s": -1})
    assert [[(one[5], one[1]) for one in rows if one[9] == STREAM_TIME] for rows in (late, none)] == [[("w", 30), ("s", 90)], []]
    assert found == [(None, None)]  # before the first time that there is


def test_nothing_is_put_before_the_first_time_that_there_is() -> None:
    strings = Serdes.string(), Serdes.string()
    stores = {
        "w": Stores.window_store_builder(Stores.persistent_window_store("w", 100, 10, False), *strings),
        "s": Stores.session_store_builder(Stores.persistent_session_store("s", 100), *strings),
        "v": Stores.versioned_key_value_store_builder(Stores.persistent_versioned_key_value_store("v", 100), *strings),
    }

    def put(context: ProcessorContext, record: Record) -> None:
        windows, sessions, versions = (context.get_state_store(name) for name in stores)
        windows.put(record.key, "x", -10)
        sessions.put((record.key, -10, 5), "x")
        sessions.remove((record.key, -10, 5))
        assert versions.put(record.key, "x", -10) == PUT_RETURN_CODE_NOT_PUT

    rows = run([row([0])], worker("p", act=put, stores=frozenset(stores)), stores=stores, times={"w": -1, "s": -1, "v": -1})
    assert [one for one in rows if one[6] is not None] == []


def test_a_window_store_that_retains_duplicates_keeps_them_over_batches() -> None:
    supplier = Stores.persistent_window_store("w", 60_000, 10, True)
    stores = {"w": Stores.window_store_builder(supplier, Serdes.string(), Serdes.string())}
    found: list[Any] = []

    def put(context: ProcessorContext, record: Record) -> None:
        windows = context.get_state_store("w")
        for value in ("x", "y", None, "x"):
            windows.put("a", value, 5)
        windows.put("ab", "z", 5)
        found.append((list(windows.fetch("a", 0, 10)), windows.fetch("a", 5), windows.fetch("a", 4)))

    def changed(rows: list[tuple[Any, ...]]) -> dict[bytes, bytes]:
        return {one[6]: one[1].to_bytes(8, "big") + one[7] for one in rows if one[6] is not None}

    processor = worker("p", act=put, stores=frozenset(stores))
    before = changed(run([row([0])], processor, stores=stores, times={"w": -1}))
    after = changed(run([row([0])], processor, stores=stores, times={"w": 5}, stored=before))
    first = [(5, "x"), (5, "y"), (5, "x")]
    assert found == [(first, "x", None), (first * 2, "x", None)]
    window = b"a" + (5).to_bytes(8, "big")
    assert list(before) == [*(window + n.to_bytes(4, "big") for n in (1, 2, 3)), b"ab" + window[1:] + (1).to_bytes(4, "big")]
    assert not before.keys() & after.keys()


def test_a_record_that_is_forwarded_to_one_child_comes_to_no_other_one() -> None:
    def route(context: ProcessorContext, record: Record) -> None:
        context.forward(record, record.key)

    one = worker("one", act=route, children=frozenset({"sink", "two"}), forwards=((1, None),))
    rows = [row([0], "sink", count=2), row([1], "two", count=2), row([2], None, count=2)]  # type: ignore[arg-type]
    found = [(values[4], values[10 + 2 * values[4]], values[-1]) for values in run(rows, one, worker("two")) if values[2]]
    assert found == [(0, "sink", "sink"), (0, "two", "two"), (1, "two", None), (0, None, None), (1, None, None)]
    with pytest.raises(StreamsError, match="Unknown downstream node: x either does not exist or is not connected"):
        run([row([0], "x", count=2)], one, worker("two"))


def test_a_record_with_a_negative_time_is_not_forwarded() -> None:
    with pytest.raises(StreamsError, match="Malformed Record: timestamp may not be negative, but is -1"):
        run([row([0])], worker("p", act=lambda context, record: context.forward(Record(record.key, None, -1))))


def test_a_store_gives_the_keys_that_begin_with_something() -> None:
    found: list[Any] = []

    def scan(context: ProcessorContext, record: Record) -> None:
        rows = context.get_state_store("kept")
        rows.put("ab", "new")
        found.append([list(rows.prefix_scan(prefix, Serdes.string())) for prefix in ("a", "ab", "x", "")])

    stored = {key: bytes(8) + b"old" for key in (b"a", b"b")}
    run([row([0])], worker("p", act=scan, stores=frozenset({"kept"})), stores={"kept": kept()}, stored=stored)
    a, ab, b = ("a", "old"), ("ab", "new"), ("b", "old")
    assert found == [[[a, ab], [ab], [], [a, ab, b]]]


def test_the_rows_of_a_batch_come_by_task_and_few_at_a_time() -> None:
    places = [[number] * (1 + number % 3) for number in range(1500)]
    rows = [(number // 1200, *row(place, str(number))[1:]) for number, place in enumerate(places)]
    incoming = schema(1, *ROW_COLUMNS)
    batches = LocalDataToArrowConversion.convert(rows, incoming, False).to_batches()
    chunks = list(ProcessorRows([worker("one")], {}, "socket", 0, (incoming, incoming))._chunks(batches))
    assert [(partition, len(chunk.rows)) for partition, chunk in chunks] == [(0, 1000), (0, 200), (1, 300)]
    assert [chunk.place(index) for _, chunk in chunks for index in range(len(chunk.rows))] == places
    assert [values[6] for _, chunk in chunks for values in chunk.rows] == [str(number) for number in range(1500)]


def test_records_are_given_back_in_batches_while_others_wait() -> None:
    def many(context: ProcessorContext, record: Record) -> None:
        for number in range(6000):
            context.forward(record.with_value(str(number)))

    one = worker("one", act=many)
    assert [values[11] for values in run([row([0]), row([1]), row([2])], one) if values[2]] == [str(n) for n in range(6000)] * 3
