"""The messages between the driver and the lanes about a feed (`headrace.spark.plane`): values, and their JSON."""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

LATENCY_BOUNDS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000)
"""Upper bounds of `FeedCounts.latency`, whose last number counts longer ones."""


class Ages(NamedTuple):
    """Durations of some records, in ms."""

    records: int
    """How many there are."""
    least: int
    most: int
    sum: int
    last: int
    """Of the last of them."""


@dataclass(frozen=True)
class OffsetTemplate:
    """A record that stores an offset, with the number of the last record copied between `head` and `tail`."""

    topic: str
    key: bytes
    head: bytes
    tail: bytes


@dataclass(frozen=True)
class FeedPartition:
    """A source partition of a feed."""

    topic: str
    partition: int
    offset: int
    """The first offset to read."""
    destination: str
    """The name of the copy of its topic, before the chain: a lane's column `destination`."""
    stores: Sequence[OffsetTemplate] = ()
    """With exactly once: the records that store its offset, written in the transaction."""


@dataclass(frozen=True)
class Target:
    """A topic that a feed may write to."""

    topic: str
    partitions: int
    max_message_bytes: int
    """The topic's `max.message.bytes`; 0 if it is unknown, or if records are compressed."""
    keeps_partition: bool
    """Whether records keep the chain's partition; else the producer's partitioner decides."""


@dataclass(frozen=True)
class FencedId:
    """A transactional id, and the producer id and epoch that the brokers gave the fence after which offsets were read.

    Only the next producer with this id may write: after any other one the offsets may be old.
    """

    id: str
    """The transactional id."""
    producer_id: int
    epoch: int


@dataclass(frozen=True)
class Feed:
    """The definition of a feed, for a lane."""

    name: str
    """Connector and task, for logs: `<connector>-<task>`."""
    consumer: Mapping[str, str]
    """Java consumer settings. Feeds with equal settings share lanes."""
    producer: Mapping[str, str]
    """Java producer settings."""
    partitions: Sequence[FeedPartition]
    targets: Sequence[Target] = ()
    """The topics known to exist; the feed requests others before its first record for them."""
    tolerates: bool = False
    """Whether failed records are skipped (`errors.tolerance=all`); else the feed stops there."""
    letters: bool = False
    """Whether the chain writes failed records as dead letters."""
    skips_refused: bool = False
    """Whether a record that a producer or broker refuses for good is skipped; else the feed stops there."""
    files: bool = False
    """Whether it reads lines of files, not records of topics: a partition's `topic` is a path, its `partition` 0, its `offset`
    the byte at which a line begins; `consumer` has `batch.size`, the most lines of a file at once.
    """
    file: str | None = None
    """File that gets the records as lines, empty: standard output; None: they are written to topics."""
    letter_producer: Mapping[str, str] | None = None
    """Java settings of the producer of dead letters, also of the record that fails the feed; None: `producer` writes them."""
    transactions: FencedId | None = None
    """With exactly once: the transactional id of its producer."""
    commit_ms: int = 0
    """With exactly once: how long a transaction gathers records, in ms; 0: while there are records to read, but not for long."""


@dataclass(frozen=True)
class PartitionUpdate:
    """The progress of a source partition."""

    topic: str
    partition: int
    next: int
    """Every record before this offset is acknowledged; with exactly once, in a committed transaction."""
    records: int
    """Records read since the feed was added."""
    bytes: int
    """Their keys and values."""
    upstream: int
    """The last record before `next` that was copied; -1: none yet."""
    downstream: int
    """The offset of its copy."""
    unbroken: int
    """From this record on, up to `upstream`, the copies follow each other as the records do: the offset of each is known."""
    age: Ages
    """Of records when they were read, since the last update."""
    latency: Ages
    """From a record's timestamp to the acknowledgement of its copy, since the last update."""


@dataclass(frozen=True)
class FeedCounts:
    """Totals of a feed since it was added, and its current state."""

    read: int = 0
    written: int = 0
    """Acknowledged, without dead letters."""
    failed: int = 0
    """Records that failed and were skipped."""
    letters: int = 0
    dropped: int = 0
    """Records that the chain filtered out."""
    in_flight: int = 0
    """Bytes handed to the producer and not acknowledged."""
    waiting_ms: int = 0
    """How long no record in flight has been acknowledged; 0: none is in flight."""
    paused_ms: int = 0
    """Total time that flow control has paused the feed."""
    paused: bool = False
    """Whether flow control pauses the feed now."""
    latency: tuple[int, ...] = (0,) * (len(LATENCY_BOUNDS_MS) + 1)
    """Histogram of latencies by LATENCY_BOUNDS_MS."""


@dataclass(frozen=True)
class FeedFailure:
    """Why a feed stopped."""

    kind: str
    """`record`: a record failed in the chain; `large`: it is too large for its topic; `error`: anything else."""
    report: str | None
    """The chain's report of the record (`headrace.runtime.tolerance.report`)."""
    place: str | None
    """`topic=…, partition=…, offset=…` of the record, if it is about one."""
    target: str | None
    """The topic that the record was for; None if it is not about one."""
    size: int
    """Of key and value, in bytes."""
    java_class: str
    message: str
    is_outage: bool = False
    """Whether it passes, though its class does not say so (`headrace.spark.known_servers`)."""


@dataclass(frozen=True)
class Update:
    """The changes of a feed since its last update."""

    ended: bool
    """No record is read or in flight any more: the feed was removed, or has failed."""
    failure: FeedFailure | None
    partitions: Sequence[PartitionUpdate]
    counts: FeedCounts
    topics: frozenset[str]
    """Topics that it has records for; they wait until the topics are described (`headrace.spark.plane.Handle.update_topic`)."""
    needs: tuple[str, ...]
    """Unknown schemas (`headrace.runtime.chain.FeedChain`); their records wait for chains that know them (`replace`)."""
    failures: Sequence[str]
    """Reports of skipped records, at most the first hundred of each report of a lane."""
    unnamed: int
    """How many more records were skipped."""
    written: frozenset[str]
    """Topics that have records of this feed since its last update."""
    transactions: Sequence[int]
    """The number of records of each committed transaction."""
    at: float = math.inf
    """When it came, by time.monotonic."""


_CLIENTS = ("consumer", "producer", "letter_producer")


def feed_json(feed: Feed) -> str:
    """A feed as JSON for the lanes (`FeedJson.java`)."""

    def text(value: bytes) -> str:
        return base64.b64encode(value).decode()

    partitions = [
        {
            "topic": p.topic,
            "partition": p.partition,
            "offset": p.offset,
            "destination": p.destination,
            "stores": [[s.topic, text(s.key), text(s.head), text(s.tail)] for s in p.stores],
        }
        for p in feed.partitions
    ]
    targets = [asdict(target) for target in feed.targets]
    plain = ("name", "tolerates", "letters", "skips_refused", "files", "file", "commit_ms")
    values = {name: getattr(feed, name) for name in plain}
    clients = {name: None if (client := getattr(feed, name)) is None else dict(client) for name in _CLIENTS}
    values["transactions"] = asdict(feed.transactions) if feed.transactions else None
    return json.dumps({**values, **clients, "partitions": partitions, "targets": targets})


def read_update(news: Mapping[str, Any]) -> Update:
    """Parse an update of the lanes (`FeedJson.java`)."""
    failure = news.get("failure")
    return Update(
        ended=news["ended"],
        failure=FeedFailure(
            failure["kind"], failure["report"], failure["place"], failure["target"], failure["size"],
            failure["javaClass"] or "", failure["message"] or "",
        ) if failure else None,
        partitions=[_partition(partition) for partition in news["partitions"]],
        counts=_counts(news["counts"]),
        topics=frozenset(news["topics"]),
        needs=tuple(news["needs"]),
        failures=news["failures"],
        unnamed=news["unnamed"],
        written=frozenset(news["written"]),
        transactions=news["transactions"],
        at=time.monotonic(),
    )  # fmt: skip


def _partition(node: Mapping[str, Any]) -> PartitionUpdate:
    plain = ("topic", "partition", "next", "records", "bytes", "upstream", "downstream", "unbroken")
    values = {name: node[name] for name in plain}
    return PartitionUpdate(**values, age=Ages(*node["age"]), latency=Ages(*node["latency"]))


def _counts(parts: Sequence[Mapping[str, Any]]) -> FeedCounts:
    def total(name: str) -> int:
        return sum(part[name] for part in parts)

    latency = tuple(map(sum, zip(*(part["latency"] for part in parts), strict=True))) if parts else FeedCounts().latency
    return FeedCounts(
        read=total("read"),
        written=total("written"),
        failed=total("failed"),
        letters=total("letters"),
        dropped=total("dropped"),
        in_flight=total("inFlight"),
        waiting_ms=max((part["waitingMs"] for part in parts), default=0),
        paused_ms=max((part["pausedMs"] for part in parts), default=0),
        paused=any(part["paused"] for part in parts),
        latency=latency,
    )
