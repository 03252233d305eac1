"""What is measured: the records and the chain of the transforms benchmark, as Avro."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import fastavro

from benchmarks.transforms import data
from benchmarks.transforms.chain import Format

AVRO = Format("avro", schemas=False)
OURS, PEER = "io.confluent.connect.avro.AvroConverter", "io.headrace.bench.GenericAvroConverter"


def _record(name: str, *fields: tuple[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": kind} for field, kind in fields]}


_ADDRESS = _record("Address", ("city", "string"), ("zip", "int"))
_TAGS = {"type": "array", "items": "string"}
SCHEMA = _record(
    "Order", ("id", "long"), ("name", "string"), ("quantity", "string"), ("code", "int"), ("price", "string"),
    ("ratio", "double"), ("active", "boolean"), ("created", "long"), ("address", _ADDRESS), ("tags", _TAGS), ("note", "string"),
    ("internal", "long"),
)  # fmt: skip
"""Of the records that are read; it has the id 1."""
MADE = _record(
    "Order", ("id", "long"), ("name", "string"), ("quantity", "int"), ("code", "string"), ("price", "double"),
    ("ratio", "double"), ("active", "boolean"), ("created", "string"), ("address", _ADDRESS), ("tags", _TAGS),
    ("received", ["null", "long"]), ("source", ["null", "string"]),
)  # fmt: skip
"""Of the records that the chain makes, as far as it decides on the bytes."""


def properties(side: str, registry: str) -> dict[str, str]:
    """The converters of a side. registry: its URL, for ours; the peer has none."""
    if side == "peer":
        names = ("source.value.converter", "value.converter")
        return dict.fromkeys(names, PEER) | {f"{name}.schema": json.dumps(SCHEMA) for name in names}
    return {"value.converter": OURS, "value.converter.schema.registry.url": registry}


def records(count: int) -> Iterator[data.Record]:
    """Yield the records of the transforms benchmark as Avro behind the id 1."""
    schema = fastavro.parse_schema(SCHEMA)
    for each in data.records(AVRO, count):
        out = io.BytesIO()
        out.write(b"\0\0\0\0\1")
        fastavro.schemaless_writer(out, schema, json.loads(each.value))
        yield each._replace(value=out.getvalue())


def decode(value: bytes) -> Any:
    """A value that the chain has made."""
    return fastavro.schemaless_reader(io.BytesIO(value[5:]), MADE, None)
