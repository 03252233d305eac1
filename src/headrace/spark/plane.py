"""The data plane: one long-lived Spark job whose tasks drive lanes, each of which carries many feeds.

A *lane* is a consumer and a producer with the same client settings. A *feed* is what one task reads and writes: its source
partitions, with a chain, offsets and errors of its own. Adding or removing a feed starts and plans no query. The lanes are Java
(`spark/java/io/headrace/lanes`); this module gives them feeds, and takes their updates. Docs: docs/decisions/0017.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from headrace.errors import ConnectError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_UPDATES_MS = 1000
_LOCAL = re.compile(r"local(?:\[(\*|\d+)(?:,\s*\d+)?\])?")
_BOUNDS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000)

LATENCY_BOUNDS_MS = _BOUNDS_MS
"""Upper bounds of `Counts.latency`, whose last number counts what is longer."""


class Ages(NamedTuple):
    """Durations of some records, in ms: how many, the least, the greatest, their sum, and the last one."""

    records: int
    least: int
    most: int
    sum: int
    last: int


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
    stores: Sequence[OffsetTemplate] = ()
    """With exactly once: the records that store its offset, written in the transaction."""


@dataclass(frozen=True)
class Target:
    """A topic that a feed may write to."""

    topic: str
    partitions: int
    max_message_bytes: int
    """The topic's `max.message.bytes`; 0 if that is not known, or records are compressed on their way."""
    keeps_partition: bool
    """Whether the partition that the chain gives counts; else the producer's partitioner decides."""


@dataclass(frozen=True)
class Feed:
    """What a lane needs to know of a feed."""

    name: str
    """Connector and task, for logs: `<connector>-<task>`."""
    consumer: Mapping[str, str]
    """Java consumer settings. Feeds with equal settings share lanes."""
    producer: Mapping[str, str]
    """Java producer settings."""
    partitions: Sequence[FeedPartition]
    targets: Sequence[Target] = ()
    """The topics that are known to exist; the feed asks for others before its first record for them."""
    tolerates: bool = False
    """Whether a record that fails is passed over (`errors.tolerance=all`); else the feed stops there."""
    letters: bool = False
    """Whether the chain makes a dead letter of a record that fails."""
    transactional_id: str | None = None
    """With exactly once: of its producer."""
    commit_ms: int = 0
    """With exactly once: how long a transaction gathers records, in ms; 0: while there are records to read, but not for long."""


@dataclass(frozen=True)
class PartitionUpdate:
    """How far a source partition has come."""

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
    age: Ages
    """Of records when they were read, since the last update."""
    latency: Ages
    """From a record's timestamp to the acknowledgement of its copy, since the last update."""


@dataclass(frozen=True)
class Counts:
    """Totals of a feed since it was added, and what is true of it now."""

    read: int = 0
    written: int = 0
    """Acknowledged, without dead letters."""
    failed: int = 0
    """Records that failed and were passed over."""
    letters: int = 0
    dropped: int = 0
    """Records that the chain filtered out."""
    in_flight: int = 0
    """Bytes handed to the producer and not acknowledged."""
    waiting_ms: int = 0
    """How long nothing of what is in flight has been acknowledged; 0: nothing is in flight."""
    paused_ms: int = 0
    """How long flow control has paused the feed, in all."""
    paused: bool = False
    """Whether it does now."""
    latency: tuple[int, ...] = (0,) * (len(_BOUNDS_MS) + 1)
    """Histogram of latencies by LATENCY_BOUNDS_MS."""


@dataclass(frozen=True)
class Failure:
    """Why a feed stopped."""

    kind: str
    """`record`: a record failed in the chain; `large`: it is too large for its topic; `error`: anything else."""
    report: str | None
    """What the chain says of the record (`headrace.runtime.tolerance.report`)."""
    place: str | None
    """`topic=…, partition=…, offset=…` of the record, as far as it is about one."""
    target: str | None
    size: int
    """Of key and value, in bytes."""
    java_class: str
    message: str


@dataclass(frozen=True)
class Update:
    """What is new of a feed since its last update."""

    ended: bool
    """Nothing of the feed is read, or in flight, any more: it was removed, or has failed."""
    failure: Failure | None
    partitions: Sequence[PartitionUpdate]
    counts: Counts
    topics: frozenset[str]
    """Topics that it has records for, and waits until they are known (`Handle.know`)."""
    schemas: Mapping[str, frozenset[str]]
    """For `key` and `value`, the texts of schemas that its chain does not know; it waits for another chain (`Handle.replace`)."""
    failures: Sequence[str]
    """Reports of records that were passed over, the first hundred since the last update."""
    written: frozenset[str]
    """Topics that have records of this feed since its last update."""
    transactions: Sequence[int]
    """How many records each transaction had that was committed."""


class Handle:
    """A feed of the plane."""

    def __init__(self, plane: Any, number: int) -> None:
        self._plane, self._number = plane, number
        self._updates: queue.SimpleQueue[Update | None] = queue.SimpleQueue()

    def update(self, timeout_s: float | None) -> Update | None:
        """The next update; None after `timeout_s` (None: for ever), or once `wake` was called."""
        try:
            return self._updates.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def wake(self) -> None:
        """Have `update` return. For any thread."""
        self._updates.put(None)

    def put(self, update: Update) -> None:
        """Hand over an update."""
        self._updates.put(update)

    def know(self, target: Target) -> None:
        """A topic exists, or has changed."""
        self._plane.known(self._number, json.dumps(asdict(target)))

    def replace(self, chain: Any) -> None:
        """Take this chain (`plan_of`) from here on."""
        self._plane.replace(self._number, chain)

    def remove(self) -> None:
        """Read no more. An update with `ended` follows once what is in flight is acknowledged."""
        self._plane.remove(self._number)

    def __hash__(self) -> int:
        return self._number


@dataclass
class _Feeds:
    handles: dict[int, Handle] = field(default_factory=dict)
    early: dict[int, list[Update]] = field(default_factory=dict)  # of feeds whose handle is being made
    adding: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class DataPlane:
    """The plane of this process's Spark session."""

    def __init__(self, spark: SparkSession, tasks: int) -> None:
        """tasks: how many Spark tasks drive lanes, each of which holds a task slot."""
        context: Any = spark.sparkContext
        self._plane = context._jvm.io.headrace.lanes.Plane.start(context._jsc, tasks)
        self._context, self._feeds = context, _Feeds()
        log.info("data-plane.started", tasks=tasks, master=context.master)
        threading.Thread(target=self._main, name="data-plane", daemon=True).start()

    def add(self, feed: Feed, chain: Any) -> Handle:
        """Begin to read. chain: of `plan_of`."""
        with self._feeds.lock:
            self._feeds.adding += 1
        handle: Handle | None = None
        try:
            handle = Handle(self._plane, self._plane.add(_json(feed), chain))
            return handle
        finally:
            with self._feeds.lock:
                self._feeds.adding -= 1
                if handle is not None:
                    self._feeds.handles[hash(handle)] = handle
                    for update in self._feeds.early.pop(hash(handle), ()):
                        handle.put(update)
                if not self._feeds.adding:
                    self._feeds.early.clear()  # of feeds that were forgotten meanwhile

    def forget(self, handle: Handle) -> None:
        """Hear no more of a feed; it is removed, if it was not."""
        with self._feeds.lock:
            self._feeds.handles.pop(hash(handle), None)
        self._plane.forget(hash(handle))

    def size(self) -> int:
        """How many feeds there are."""
        return len(self._feeds.handles)

    def stop(self) -> None:
        """End all lanes, and the job."""
        self._plane.stop()

    def _main(self) -> None:
        while True:
            try:
                news = json.loads(self._plane.news(_UPDATES_MS))
            except Exception as error:  # the JVM is gone, and with it every feed
                log.info("data-plane.ended", cause=str(error))
                return
            for one in news:
                self._dispatch(one["feed"], _update(one))

    def _dispatch(self, number: int, update: Update) -> None:
        with self._feeds.lock:
            handle = self._feeds.handles.get(number)
            if handle is not None:
                handle.put(update)
            elif self._feeds.adding:
                self._feeds.early.setdefault(number, []).append(update)


_PLANES: dict[str, DataPlane] = {}  # by application id of the session
_LOCK = threading.Lock()


def data_plane(spark: SparkSession) -> DataPlane:
    """The plane of a session, started at the first call. Raises ConnectError if the session has too few task slots for one."""
    context: Any = spark.sparkContext
    with _LOCK:
        plane = _PLANES.get(context.applicationId)
        if plane is None:
            plane = _PLANES[context.applicationId] = DataPlane(spark, lane_tasks(context.master, context.defaultParallelism))
        return plane


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_driver(master: str) -> bool:
    """Whether the tasks of a session with this master run in the driver's own process."""
    return _LOCAL.fullmatch(master) is not None


def default_master() -> str:
    """A task slot for each core, and one beside it for a task that drives lanes."""
    return f"local[{2 * cores()}]"


def lane_tasks(master: str, parallelism: int) -> int:
    """How many of a session's task slots drive lanes: one for each core of this machine, or half of a cluster's.

    parallelism: the session's default parallelism. Raises ConnectError if nothing would be left for other jobs.
    """
    local = _LOCAL.fullmatch(master)
    if local is None:
        return max(1, parallelism // 2)
    slots = 1 if local[1] is None else cores() if local[1] == "*" else int(local[1])
    if slots < 2:
        raise ConnectError(
            f"spark.master={master} has one task slot, and the data plane holds one for good; leave spark.master out, or set "
            "local[2] or more."
        )
    return min(cores(), max(1, slots // 2))


def columns(spark: SparkSession) -> DataFrame:
    """An empty DataFrame with a lane's columns, for a chain to be built upon.

    Columns: key, value (binary), topic (string), partition (int), offset (bigint), timestamp (timestamp), headers
    (array<struct<key: string, value: binary>>, NULL when there are none).
    """
    from pyspark.sql import DataFrame

    context: Any = spark.sparkContext
    return DataFrame(context._jvm.io.headrace.lanes.ChainPlan.columns(spark._jsparkSession), spark)


def plan_of(frame: DataFrame) -> Any | str:
    """The plan of a DataFrame that was built upon `columns`.

    If an operator keeps it from going record by record, a text: the operator's name.
    """
    from py4j.protocol import Py4JJavaError

    context: Any = frame.sparkSession.sparkContext
    try:
        return context._jvm.io.headrace.lanes.ChainPlan.of(frame._jdf)
    except Py4JJavaError as error:
        if error.java_exception.getClass().getName() == "java.lang.IllegalArgumentException":
            return str(error.java_exception.getMessage())
        raise


def _json(feed: Feed) -> str:
    def text(value: bytes) -> str:
        return base64.b64encode(value).decode()

    partitions = [
        {
            "topic": p.topic,
            "partition": p.partition,
            "offset": p.offset,
            "stores": [[s.topic, text(s.key), text(s.head), text(s.tail)] for s in p.stores],
        }
        for p in feed.partitions
    ]
    targets = [asdict(target) for target in feed.targets]
    plain = ("name", "tolerates", "letters", "transactional_id", "commit_ms")
    values = {name: getattr(feed, name) for name in plain}
    clients = {"consumer": dict(feed.consumer), "producer": dict(feed.producer)}
    return json.dumps({**values, **clients, "partitions": partitions, "targets": targets})


def _update(news: Mapping[str, Any]) -> Update:
    failure = news.get("failure")
    return Update(
        ended=news["ended"],
        failure=Failure(
            failure["kind"], failure["report"], failure["place"], failure["target"], failure["size"],
            failure["javaClass"] or "", failure["message"] or "",
        ) if failure else None,
        partitions=[_partition(partition) for partition in news["partitions"]],
        counts=_counts(news["counts"]),
        topics=frozenset(news["topics"]),
        schemas={"key": frozenset(news["key_schemas"]), "value": frozenset(news["value_schemas"])},
        failures=news["failures"],
        written=frozenset(news["written"]),
        transactions=news["transactions"],
    )  # fmt: skip


def _partition(node: Mapping[str, Any]) -> PartitionUpdate:
    plain = ("topic", "partition", "next", "records", "bytes", "upstream", "downstream")
    values = {name: node[name] for name in plain}
    return PartitionUpdate(**values, age=Ages(*node["age"]), latency=Ages(*node["latency"]))


def _counts(parts: Sequence[Mapping[str, Any]]) -> Counts:
    def total(name: str) -> int:
        return sum(part[name] for part in parts)

    latency = tuple(map(sum, zip(*(part["latency"] for part in parts), strict=True))) if parts else Counts().latency
    return Counts(
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
