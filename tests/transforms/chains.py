"""Runs records through chains on the real Spark session, many records in one query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.converters.base import load, load_header
from headrace.transforms.chain import Compiled, Converters, compile_chain
from headrace.transforms.stages import stages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
KAFKA = "org.apache.kafka.connect.transforms."
DATA = "org.apache.kafka.connect.errors.DataException"
SCHEMALESS = {
    "key.converter": JSON, "key.converter.schemas.enable": "false",
    "value.converter": JSON, "value.converter.schemas.enable": "false",
}  # fmt: skip
_TYPES = (
    "n int, in_topic string, in_partition int, in_offset bigint, in_timestamp bigint, in_key binary, in_value binary, "
    "in_headers array<struct<key:string,value:binary>>"
)


@dataclass(frozen=True)
class Record:
    """A record as it stands in Kafka."""

    value: bytes | None = None
    key: bytes | None = None
    topic: str = "orders"
    headers: Sequence[tuple[str, bytes | None]] = ()
    partition: int = 0
    offset: int = 42
    timestamp: int | None = 1_700_000_000_123


@dataclass(frozen=True)
class Failed:
    """A record that could not be taken through."""

    step: str
    java_class: str
    message: str = field(default="", compare=False)
    cause: str | None = field(default=None, compare=False)


DROPPED = "dropped"
Outcome = Record | Failed | str


def config(
    *transforms: Mapping[str, str], predicates: Mapping[str, Mapping[str, str]] | None = None, **settings: str
) -> dict[str, str]:
    """A connector's properties: the stages `t0`, `t1` … of these settings, on schemaless JSON unless `settings` say otherwise.

    `settings` are written with `_` for `.`, a transform's `type` without the package.
    """
    result = {**SCHEMALESS, "transforms": ",".join(f"t{i}" for i in range(len(transforms)))}
    result |= {key.replace("_", "."): value for key, value in settings.items()}
    for i, stage in enumerate(transforms):
        result |= {f"transforms.t{i}.{key}": KAFKA + value if key == "type" else value for key, value in stage.items()}
    if predicates:
        result["predicates"] = ",".join(predicates)
    for alias, options in (predicates or {}).items():
        result |= {f"predicates.{alias}.{key}": KAFKA + "predicates." + v if key == "type" else v for key, v in options.items()}
    return result


def converters(props: Mapping[str, str]) -> Converters:
    def below(option: str) -> dict[str, str]:
        return {k.removeprefix(option + "."): v for k, v in props.items() if k.startswith(option + ".")}

    key = load(props["key.converter"], below("key.converter"), is_key=True)
    value = load(props["value.converter"], below("value.converter"), is_key=False)
    return Converters(key, value, load_header(props.get("header.converter", SIMPLE), below("header.converter")))


def compiled(props: Mapping[str, str], schemas: Mapping[str, Sequence[str]] | None = None, show: bool = True) -> Compiled:
    both = converters(props)
    return compile_chain(stages(props), both, both, schemas, sink=True, show=show)


def frame(spark: SparkSession, records: Iterable[Record]) -> DataFrame:
    """The records as a frame that Spark cannot evaluate while it plans."""
    rows = [(n, r.topic, r.partition, r.offset, r.timestamp, r.key, r.value, list(r.headers)) for n, r in enumerate(records)]
    return spark.createDataFrame(rows, _TYPES)


def known_schemas(props: Mapping[str, str], incoming: DataFrame) -> dict[str, list[str]]:
    """The schemas that the records carry, asked of the converters as the engine does."""
    result: dict[str, list[str]] = {}
    both = converters(props)
    for part, converter in (("key", both.key), ("value", both.value)):
        new = converter.schema_in(f"in_{part}", ())
        if new is not None:
            result[part] = [
                r["s"] for r in incoming.selectExpr(f"{new} AS s").where("s IS NOT NULL").distinct().orderBy("s").collect()
            ]
    return result


def through(spark: SparkSession, props: Mapping[str, str], records: Iterable[Record], show: bool = True) -> list[Any]:
    """What becomes of each record, in order: Record, Failed or DROPPED; `show=False` leaves out what a filter took out."""
    inputs = list(records)
    before = frame(spark, inputs)
    after = compiled(props, known_schemas(props, before), show).apply(before, keep=["n"])
    return [outcome(row, inputs[row["n"]]) for row in sorted(after.collect(), key=lambda row: row["n"])]


def outcome(row: Any, record: Record) -> Outcome:
    failure = row["failure"]
    if failure is not None:
        return Failed(failure["step"], failure["class"], failure["message"], failure["cause"])
    if row["dropped"]:
        return DROPPED
    key, value = (None if row[part] is None else bytes(row[part]) for part in ("key", "value"))
    headers = tuple((h["key"], None if h["value"] is None else bytes(h["value"])) for h in row["headers"])
    return Record(value, key, row["topic"], headers, row["partition"], record.offset, row["timestamp"])


def values(spark: SparkSession, props: Mapping[str, str], contents: Iterable[bytes | None]) -> list[Any]:
    """What becomes of each value: bytes, None, Failed or DROPPED."""
    return [r.value if isinstance(r, Record) else r for r in through(spark, props, [Record(value) for value in contents])]


def parsed(text: bytes | None) -> Any:
    """JSON whose numbers stay as they are written, and with duplicates, so that nothing is lost in a comparison."""
    return None if text is None else json.loads(text, parse_float=lambda digits: ("fraction", digits))
