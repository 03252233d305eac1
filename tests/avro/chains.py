"""Records through a chain whose converters have a registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.testing.registry import SchemaRegistry
from headrace.transforms.chain import Compiled, Converters, compile_chain
from headrace.transforms.stages import stages
from tests.transforms.chains import Record, converters, frame, outcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AVRO = "io.confluent.connect.avro.AvroConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


def props(registry: SchemaRegistry, converter: str = AVRO, **settings: str) -> dict[str, str]:
    """Of a connector with AvroConverter, or another, for its values; settings: of the converter, with `_` for `.`."""
    value = {f"value.converter.{key.replace('_', '.')}": text for key, text in settings.items()}
    url = {"value.converter.schema.registry.url": registry.url, "value.converter.max.retries": "0"}
    return {"key.converter": BYTES, "value.converter": converter, **url, **value}


def learned(both: Converters, incoming: Any, config: Mapping[str, str], writing: Converters | None = None) -> Compiled:
    """The chain that knows what these records need, as a task finds it out."""
    known_schemas: dict[str, list[str]] = {}
    for part in ("key", "value"):
        converter = getattr(both, part)
        new = converter.schema_in(f"in_{part}", ())
        if new is not None:
            texts = incoming.selectExpr(f"{new} AS s").where("s IS NOT NULL").distinct().orderBy("s")
            known_schemas[part] = [row["s"] for row in texts.collect()]
    while True:
        compiled = compile_chain(stages(config), both, writing or both, known_schemas, sink=True, show=True)
        requests = {part: f"collect_set({name})" for part, name in compiled.request_columns.items()}
        if not requests:
            return compiled
        row = compiled.apply(incoming).selectExpr(*(f"{sql} AS {part}" for part, sql in requests.items())).first()
        assert row is not None
        if not any(row[part] for part in requests):
            return compiled
        for part in requests:
            getattr(writing or both, part).learn(row[part])


def through(spark: SparkSession, config: Mapping[str, str], records: Iterable[Record], to: Mapping[str, str] | None = None
            ) -> list[Any]:  # fmt: skip
    """What becomes of each record; to: the converters that write, if others than those that read."""
    inputs = list(records)
    before = frame(spark, inputs)
    both = converters(config)
    after = learned(both, before, config, converters({**config, **to}) if to else None).apply(before, keep=["n"])
    return [outcome(row, inputs[row["n"]]) for row in sorted(after.collect(), key=lambda row: row["n"])]
