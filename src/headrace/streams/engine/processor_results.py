"""What a task's processors give back to Spark: columns of `processors._schema`, as Arrow batches of one kind of row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from headrace.streams.changed_rows import ChangedRows
from headrace.streams.processors import Record

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema
    from pyspark.sql.types import StructType

_BATCH_ROWS = 10_000  # as many as Spark gives to Python in a batch
_STREAM_TIME, _DROPPED = -2, -3  # what a row of a store has as `due`


class TaskResults:
    """The results of one task. Forwarded records are kept as columns, which cost less than a row for each."""

    def __init__(self, schema: StructType, partition: int, processors: int) -> None:
        from pyspark.sql.types import StructType

        names = ["h", *(f"{part}{number}" for number in range(processors) for part in "kv")]
        self._arrow_schema: Schema = _to_arrow([(None,) * len(schema)], schema).schema
        self._converted = StructType([schema[name] for name in names])  # columns of the users' types
        self._partition, self._others = partition, processors - 1
        self._clear()

    def _clear(self) -> None:
        self._times: list[int] = []
        self._places: list[int] = []
        self._depths: list[int] = []
        self._numbers: list[int] = []
        self._contents: list[tuple[Any, ...]] = []
        self._children: list[str | None] = []

    def forward(self, number: int, record: Record, place: list[int], child: str | None) -> None:
        """Add a record that a processor forwards to the operators downstream of it; child: to this one only."""
        self._times.append(record.timestamp)
        self._places += place
        self._depths.append(len(place))
        self._numbers.append(number)
        before, after = (None, None) * number, (None, None) * (self._others - number)
        self._contents.append((list(record.headers) or None, *before, record.key, record.value, *after))
        self._children.append(child)

    def is_full(self) -> bool:
        """Whether the forwarded records fill a batch."""
        return len(self._times) >= _BATCH_ROWS

    def take_forwarded(self) -> Iterator[RecordBatch]:
        """The records that have been forwarded since the last call."""
        from pyarrow import ListArray, array

        if self._times:
            converted, offsets = _to_arrow(self._contents, self._converted), array(accumulate(self._depths, initial=0), "int32")
            columns = {name: converted.column(name).combine_chunks() for name in self._converted.names}
            columns["o"] = ListArray.from_arrays(offsets, self._places, self._arrow_schema.field("o").type)
            yield self._batch(self._times, m=self._numbers, to=self._children, **columns)
            self._clear()

    def changes(self, store: str, rows: ChangedRows) -> Iterator[RecordBatch]:
        """The changed rows of a store, its stream time, and the times of expired puts."""
        if rows.stream_time >= 0:
            yield self._batch([rows.stream_time], store=[store], due=[_STREAM_TIME])
        if rows.dropped:
            yield self._batch(rows.dropped, store=[store] * len(rows.dropped), due=[_DROPPED] * len(rows.dropped))
        changed = rows.changed()
        while some := list(islice(changed, _BATCH_ROWS)):
            keys, values, old, times = zip(*some, strict=True)
            yield self._batch(times, store=[store] * len(some), key=keys, value=values, old=old)

    def dues(self, number: int, dues: Iterable[tuple[int, int]]) -> RecordBatch:
        """Times of a processor: each a number and ms."""
        numbers, times = zip(*dues, strict=True)
        return self._batch(times, m=[number] * len(times), due=numbers)

    def _batch(self, times: Iterable[Any], **columns: Any) -> RecordBatch:
        """A batch of some columns, and NULL in all others."""
        from pyarrow import Array, RecordBatch, array, nulls, repeat, scalar

        by_name = {"t": array(times, "int64"), **columns}
        count = len(by_name["t"])
        by_name["p"] = repeat(scalar(self._partition, "int32"), count)
        arrays = []
        for field in self._arrow_schema:
            column = by_name.get(field.name)
            if column is None:
                column = nulls(count, field.type)
            arrays.append(column if isinstance(column, Array) else array(column, field.type))
        return RecordBatch.from_arrays(arrays, schema=self._arrow_schema)


def _to_arrow(rows: list[Any], schema: StructType) -> Any:
    from pyspark.sql.conversion import LocalDataToArrowConversion

    return LocalDataToArrowConversion.convert(rows, schema, False)
