"""The data plane: one long-lived Spark job whose tasks drive lanes, each of which carries many feeds.

A *lane* is a consumer (or a reader of files) and a producer. A *feed* is what one task reads and writes: its source
partitions, with a chain, offsets and errors of its own. Adding or removing a feed starts and plans no query. The lanes are Java
(`jvm/java/io/headrace/lanes`); this module gives them feeds, and takes their updates. Docs: docs/decisions/0017.
"""

from __future__ import annotations

import json
import math
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
from py4j.protocol import Py4JJavaError

from headrace.errors import ConnectError
from headrace.spark.feeds import Feed, Target, Update, feed_json, read_update
from headrace.spark.known_servers import judged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = structlog.get_logger(__name__)

_UPDATES_MS, _UPDATES_MOST_MS, _MS_PER_FEED, _MS_PER_PARTITION = 200, 5000, 40, 1
"""Between two updates, unless something is urgent; longer with many feeds or partitions, as an update is some work for each."""
_SLOTS_WAIT_S = 30.0
_PAUSE_S = 1.0
_PLANS = 256  # that are shared; each has some ten kilobytes
_CGROUPS = Path("/sys/fs/cgroup")
_LOCAL = re.compile(r"local(?:\[(\*|\d+)(?:,\s*\d+)?\])?")


class Handle:
    """A feed of the plane."""

    def __init__(self, plane: Any, number: int, feed: Feed) -> None:
        self._plane, self._number, self._feed = plane, number, feed
        self.partitions = len(feed.partitions)
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
        self._updates.put(judged(update, self._feed))

    def update_topic(self, target: Target) -> None:
        """A topic exists, or has changed."""
        self._plane.known(self._number, json.dumps(asdict(target)))

    def replace(self, chain: Any, needs: Iterable[str]) -> None:
        """Take this chain (`plan_of`) for records with these needs, and others for others (`Update.needs`)."""
        self._plane.replace(self._number, chain, "\0".join(needs))

    def remove(self) -> None:
        """Read no more. An update with `ended` follows once what is in flight is acknowledged."""
        self._plane.remove(self._number)

    def give_up(self) -> None:
        """Read no more, and write no more: what is in flight is given up. Nothing is written after the update with `ended`."""
        self._plane.giveUp(self._number)

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

    def __init__(self, spark: SparkSession, tasks: int, slots_wait_s: float = _SLOTS_WAIT_S) -> None:
        """tasks: how many Spark tasks drive lanes, each of which holds a task slot; slots_wait_s: for how long Spark may have no
        slot for one of them until there is a warning.
        """
        context: Any = spark.sparkContext
        self.tasks, self._slots_wait_s = tasks, slots_wait_s
        self._plane = context._jvm.io.headrace.lanes.Plane.start(context._jsc, tasks)
        self._context, self._feeds = context, _Feeds()
        self._lock, self._plans = threading.Lock(), dict[bytes, "Future[Any]"]()
        log.info("data-plane.started", tasks=tasks, master=context.master)
        threading.Thread(target=self._main, name="data-plane", daemon=True).start()

    def add(self, feed: Feed, chain: Any) -> Handle:
        """Add a feed and start reading. chain: of `plan_of`."""
        with self._feeds.lock:
            self._feeds.adding += 1
        handle: Handle | None = None
        try:
            handle = Handle(self._plane, self._plane.add(feed_json(feed), chain), feed)
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
        """Drop a feed's updates, and remove the feed if that was not done."""
        with self._feeds.lock:
            self._feeds.handles.pop(hash(handle), None)
        self._plane.forget(hash(handle))

    def shared_plan(self, key: bytes, make: Callable[[], Any]) -> Any:
        """The plan of this key; `make` (of `plan_of`) is called once, also with concurrent callers."""
        with self._lock:
            future = self._plans.pop(key, None)
            is_first = future is None
            future = self._plans[key] = future or Future()  # the most recently used one is last
            while len(self._plans) > _PLANS:
                del self._plans[next(iter(self._plans))]
        if is_first:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    self._plans.pop(key, None)
                future.set_exception(error)
        return future.result()

    def size(self) -> int:
        """The number of feeds."""
        return len(self._feeds.handles)

    def lanes(self) -> int:
        """The number of lanes."""
        return int(self._plane.lanes())

    def stop(self) -> None:
        """End all lanes, and the job."""
        self._plane.stop()

    def _main(self) -> None:
        warn_at = time.monotonic() + self._slots_wait_s
        while True:
            try:
                news = json.loads(self._plane.news(self._pause_ms(), _UPDATES_MOST_MS))
                if time.monotonic() > warn_at:
                    warn_at = math.inf
                    self._warn_of_slots(self._plane.started())
            except Py4JJavaError as error:  # the JVM lacks memory, for example: the next call has the same updates
                log.error("data-plane.updates.failed", cause=str(error.java_exception))
                time.sleep(_PAUSE_S)
                continue
            except Exception as error:  # the JVM has ended, and with it every feed
                log.info("data-plane.ended", cause=str(error))
                return
            for update in news:
                self._dispatch(update["feed"], read_update(update))

    def _pause_ms(self) -> int:
        with self._feeds.lock:
            handles = list(self._feeds.handles.values())
        partitions = sum(handle.partitions for handle in handles)
        return min(_UPDATES_MS + _MS_PER_FEED * len(handles) + _MS_PER_PARTITION * partitions, _UPDATES_MOST_MS)

    def _warn_of_slots(self, started: int) -> None:
        if started < self.tasks:
            hint = "Spark has no task slots for the others, whose feeds wait: is the cluster busy, or without executors?"
            log.warning("data-plane.slots.missing", tasks=self.tasks, started=started, master=self._context.master, hint=hint)

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


def running_planes() -> list[DataPlane]:
    """The planes of this process, none before the first feed."""
    with _LOCK:
        return list(_PLANES.values())


def cores() -> int:
    """How many processors this process may use: those that it may run on, no more than the CPU quota of its container."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(processors, cpu_quota(_CGROUPS) or processors)


def cpu_quota(cgroups: Path) -> int | None:
    """The CPU quota of a container in processors, rounded up as by the JVM; None without one.

    cgroups: where cgroups are mounted, of version 2 (`cpu.max`) or 1 (`cpu/cpu.cfs_quota_us`, `cpu/cpu.cfs_period_us`).
    """
    try:
        if (current := cgroups / "cpu.max").exists():
            quota, period = current.read_text().split()
        else:
            quota, period = ((cgroups / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return max(1, math.ceil(int(quota) / int(period))) if int(quota) > 0 else None
    except (OSError, ValueError):  # no cgroups, or "max"
        return None


def in_driver(master: str) -> bool:
    """Whether the tasks of a session with this master run in the driver's own process."""
    return _LOCAL.fullmatch(master) is not None


def default_master() -> str:
    """Two task slots for each core: one for micro-batches, one for a task that drives lanes."""
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
    """An empty DataFrame with a lane's columns, the input of a chain's plan.

    Columns: key, value (binary), topic (string), partition (int), offset (bigint), timestamp (timestamp), headers
    (array<struct<key: string, value: binary>>, NULL when there are none), destination (string: the name of the copy's topic
    before the chain).
    """
    from pyspark.sql import DataFrame

    context: Any = spark.sparkContext
    return DataFrame(context._jvm.io.headrace.lanes.ChainPlan.columns(spark._jsparkSession), spark)


def plan_of(frame: DataFrame) -> Any | str:
    """The plan of a DataFrame over `columns`. If an operator cannot process single records, its name as a text."""
    from pyspark.errors import IllegalArgumentException

    context: Any = frame.sparkSession.sparkContext
    try:
        return context._jvm.io.headrace.lanes.ChainPlan.of(frame._jdf)
    except IllegalArgumentException as error:
        return str(error)
