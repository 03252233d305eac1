"""The records: the same at every run, in a file for the loops and in topics for the workers."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Producer

from benchmarks.load import PARTITIONS, create_topic
from benchmarks.process import BenchmarkError
from benchmarks.transforms.chain import Format

DROPPED = 10  # every tenth record is of the topic that the chain drops
_START = 1_700_000_000_000  # ms
_CITIES = ("Berlin", "São Paulo", "Reykjavík", "Springfield", "Tōkyō", "Ulm", "Ouagadougou")
_TAGS = ("new", "returning", "priority", "gift", "fragile")


class Record(NamedTuple):
    """A record in its place; `timestamp` in ms."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes
    value: bytes


def records(form: Format, count: int) -> Iterator[Record]:
    """Yield `count` records of about 260 B (without their schema), each DROPPED-th in the topic that is dropped."""
    before, after = (b'{"schema":' + _schema() + b',"payload":', b"}") if form.schemas else (b"", b"")
    for number in range(count):
        place, topic = number // DROPPED, form.dropped_topic
        if number % DROPPED:
            place, topic = number - place - 1, form.topic
        key = b"customer-%06d" % (number % 50_000)
        yield Record(
            topic, place % PARTITIONS, place // PARTITIONS, _START + number * 3, key, before + _payload(number, key) + after
        )


def kept(count: int) -> int:
    """Return how many of `count` records the chain keeps."""
    return count - (count + DROPPED - 1) // DROPPED


def _payload(number: int, key: bytes) -> bytes:
    mixed = number * 2_654_435_761 % 2**32  # looks random, and is the same everywhere
    return (
        b'{"id":%d,"name":"%b","quantity":"%d","code":%d,"price":"%d.%02d","ratio":%b,"active":%b,"created":%d,'
        b'"address":{"city":"%b","zip":%d},"tags":["%b","%b"],"note":"order of %b","internal":%d}'
    ) % (
        number,
        key,
        mixed % 500,
        mixed % 9_973,
        mixed % 1_999,
        mixed % 100,
        repr(mixed % 100_000 / 100_000).encode(),
        b"true" if mixed % 3 else b"false",
        _START + mixed % 10_000_000_000,
        _CITIES[mixed % 7].encode(),
        10_000 + mixed % 90_000,
        _TAGS[mixed % 5].encode(),
        _TAGS[mixed % 11 % 5].encode(),
        key,
        mixed,
    )


def _schema() -> bytes:
    """The schema as JsonConverter writes it."""
    fields = {
        "id": "int64",
        "name": "string",
        "quantity": "string",
        "code": "int32",
        "price": "string",
        "ratio": "double",
        "active": "boolean",
        "created": "int64",
    }
    address = _struct([_field("string", "city"), _field("int32", "zip")]) | {"field": "address"}
    tags = {"type": "array", "items": {"type": "string", "optional": False}, "optional": False, "field": "tags"}
    members = [_field(kind, name) for name, kind in fields.items()] + [address, tags]
    members += [_field("string", "note"), _field("int64", "internal")]
    return json.dumps(_struct(members), separators=(",", ":")).encode()


def _struct(members: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "struct", "fields": members, "optional": False}


def _field(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "optional": False, "field": name}


def write_file(form: Format, count: int, path: Path) -> Path:
    """Write the records of a format as lines; return the path (`write_lines`)."""
    return write_lines(records(form, count), path)


def write_lines(found: Iterable[Record], path: Path) -> Path:
    """Write lines of topic, partition, offset, timestamp, key and value (in base64) with tabs between; return the path."""
    with path.open("wb") as file:
        for each in found:
            place = f"{each.topic}\t{each.partition}\t{each.offset}\t{each.timestamp}\t".encode()
            file.write(place + each.key + b"\t" + base64.b64encode(each.value) + b"\n")
    return path


def fill(broker: str, form: Format, count: int) -> None:
    """Create the two topics and write the records to them, in batches of the size that a Java producer's defaults give."""
    for topic in (form.topic, form.dropped_topic):
        create_topic(broker, topic)
    failed: list[str] = []
    producer = Producer(
        {"bootstrap.servers": broker, "acks": "1", "linger.ms": 5, "batch.size": 16384, "queue.buffering.max.kbytes": 262144}
    )
    for each in records(form, count):
        while True:
            try:
                producer.produce(
                    *(each.topic, each.value, each.key, each.partition),
                    timestamp=each.timestamp,
                    on_delivery=lambda error, _: failed.append(str(error)) if error else None,
                )
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    if producer.flush(60) or failed:
        raise BenchmarkError(f"{form.topic} could not be filled: {failed[:1] or 'not within a minute'}")
    os.sync()  # the write-back of the load must not run into a measurement
