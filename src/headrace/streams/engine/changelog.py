"""A store's changes as records of its changelog topic, and the store again from them.

Key, value and timestamp are those that Kafka Streams writes for a store of this kind. In the headers is what makes the restore
exact: `b`, the number of the batch that wrote the record, and `o`, the row that it replaced (time, then value; absent if there
was none). A batch that was cut off is done again from the state before it, which these rows tell even if the log has been
compacted meanwhile (docs/decisions/0012).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.streams.engine import formats
from headrace.streams.engine.columns import HEADERS
from headrace.streams.engine.state import Layout
from headrace.streams.serdes import Serde
from headrace.streams.stores import StateStore, StoreKind

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

BATCH, OLD = "b", "o"
REMEDY = "Reset the application (kafka-streams-application-reset.sh), or give the store another name."
_TAILS = {StoreKind.WINDOW: (("w", 8), ("n", 4)), StoreKind.SESSION: (("e", 8), ("w", 8))}


@dataclass(frozen=True)
class Changelog:
    """The topic of a store, and how its rows are written there."""

    topic: str
    store: StateStore
    layout: Layout
    key_serde: Serde
    value_serde: Serde

    @classmethod
    def of(cls, topic: str, store: StateStore, layout: Layout) -> Changelog:
        """With the store's serdes, else, and for buffers, whose rows are not the user's, with those that fit the types."""
        own = store.kind is not StoreKind.BUFFER
        key, value = (store.key_serde, store.value_serde) if own else (None, None)
        return cls(topic, store, layout, key or formats.inferred(layout.keys[0][1]), value or formats.inferred(layout.value))

    @property
    def signature(self) -> str:
        """What has to stay as it is for old rows to mean the same: 8 hexadecimal digits."""
        kind, value = self.layout.keys[0][1].simpleString(), self.value_serde.name
        text = f"{self.store.kind} {self.store.window_size_ms} {self.key_serde.name} {kind} {value}"
        return f"{zlib.crc32(text.encode()):08x}"

    @property
    def what(self) -> str:
        """The store in words."""
        return f"value of store {self.store.name}"

    def records(self, updates: DataFrame) -> DataFrame:
        """The records of a batch's changes, columns of `delivery.COLUMNS`.

        updates: names of the layout, v, t, and `ov`, `ot` of the row before. The number of the batch is added by `delivery`.
        """
        from pyspark.sql import functions as F

        value = formats.encoded(self.value_serde, F.col("v"), self.layout.value, self.what)
        old = formats.encoded(self.value_serde, F.col("ov"), self.layout.value, self.what)
        before = F.struct(F.lit(OLD).alias("key"), F.concat(formats.long_bytes(F.col("ot")), old).alias("value"))
        headers = F.when(F.col("ov").isNotNull(), F.array(before)).otherwise(F.expr(f"cast(array() as {HEADERS})"))
        return updates.select(
            F.lit(self.topic).alias("topic"),
            F.col("p").cast("int").alias("partition"),
            self._key().alias("key"),
            value.alias("value"),
            headers.alias("headers"),
            F.col("t").cast("bigint").alias("t"),
            F.lit(True).alias("numbered"),
        )

    def restored(self, log: DataFrame, pending: Mapping[int, int]) -> DataFrame:
        """The store's rows as they were before the batches that were cut off.

        log: what is in the topic, columns partition, offset, key, value, headers, t; pending: the number of the batch that was
        cut off, by partition.
        """
        from pyspark.sql import functions as F

        number = F.call_function("headrace_bytes_long", _header(BATCH))
        cut_off = F.lit(False)
        for partition, batch in pending.items():
            cut_off = cut_off | ((F.col("partition") == partition) & (number == batch))
        old = _header(OLD)
        state = F.struct(
            F.when(~cut_off, F.col("value")).otherwise(F.substr(old, F.lit(9))).alias("value"),
            F.when(~cut_off, F.col("t"))
            .otherwise(F.call_function("headrace_bytes_long", F.substr(old, F.lit(1), F.lit(8))))
            .alias("t"),
        )
        latest = log.groupBy("partition", "key").agg(F.max_by(state, "offset").alias("s")).where("s.value is not null")
        value = self._read(self.value_serde, F.col("s.value"), self.layout.value, "value")
        return latest.select(F.col("partition").alias("p"), *self._keys(), value.alias("v"), F.col("s.t").alias("t"))

    def _key(self) -> Column:
        from pyspark.sql import functions as F

        name, kind = self.layout.keys[0]
        parts = [formats.encoded(self.key_serde, F.col(name), kind, f"key of store {self.store.name}")]
        for tail, width in self._tail():
            number = F.col(tail) if tail in self.layout.names else F.lit(0)
            parts.append(F.call_function("headrace_long_bytes", number.cast("bigint"), F.lit(width)))
        return F.concat(*parts)

    def _keys(self) -> list[Column]:
        from pyspark.sql import functions as F

        tail = self._tail()
        length = F.length("key") - sum(width for _, width in tail)
        name, kind = self.layout.keys[0]
        key = self._read(self.key_serde, F.substr(F.col("key"), F.lit(1), length), kind, "key")
        found, position = [key.alias(name)], length + 1
        for column, width in tail:
            if column in self.layout.names:
                bytes_ = F.substr(F.col("key"), position, F.lit(width))
                kind = dict(self.layout.keys)[column]
                found.append(F.call_function("headrace_bytes_long", bytes_).cast(kind).alias(column))
            position = position + width
        return found

    def _read(self, serde: Serde, source: Column, kind: DataType, what: str) -> Column:
        from pyspark.sql import functions as F

        value, bad = formats.decoded(serde, source, kind)
        sentence = (
            f"The changelog {self.topic} holds a {what} that the {serde.name} serde cannot read: was it written by another "
            f"topology? {REMEDY}"
        )
        return F.when(~bad, value).otherwise(F.raise_error(F.lit(sentence)).cast(kind))

    def _tail(self) -> tuple[tuple[str, int], ...]:
        return _TAILS.get(self.store.kind, ())


def _header(name: str) -> Column:
    """The value of the last header of a name, NULL if there is none."""
    from pyspark.sql import functions as F

    found = F.filter(F.coalesce(F.col("headers"), F.expr(f"cast(array() as {HEADERS})")), lambda header: header["key"] == name)
    return F.try_element_at(found, F.lit(-1))["value"]
