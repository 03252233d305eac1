"""The Spark session of a worker: one for the process, shared by all tasks. The data plane is one job of it.

With a local master it listens on loopback only, the web UI is off, and tasks of different connectors share the slots fairly. The
worker's `spark.*` keys override every setting.
"""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from headrace.errors import SetupError
from headrace.jvm.class_archive import compiler_jars, driver_jars, using
from headrace.jvm.jars import jars
from headrace.jvm.java import find_java
from headrace.jvm.output import launch
from headrace.spark.callbacks import start_callbacks
from headrace.spark.java_names import remember_java_names
from headrace.spark.lazy_numpy import load_numpy_lazily
from headrace.spark.optional_jars import FORMATS, requested_formats
from headrace.spark.plane import cores, default_master, in_driver
from headrace.spark.released_objects import release_in_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCK = threading.Lock()

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.debug.maxToStringFields": "1000",  # else a warning for every wide row
    "spark.sql.session.timeZone": "UTC",
    # Spark would look up the Python line of every function call, with five requests to the JVM each: a third of planning a chain.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # An idle query asks its source for news this often; Spark's 10 ms costs a core with a few dozen idle tasks.
    "spark.sql.streaming.pollingDelay": "50ms",
    "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
    "spark.sql.streaming.stopTimeout": "10000",
    # Hadoop's own implementation runs ten processes for each entry of a query's log.
    "spark.sql.streaming.checkpointFileManagerClass": "io.headrace.QueryLog",
    # What a consumer has handed over last, up to 10,000 records of a partition, is kept for the batch that continues from there:
    # five minutes by default, in which a backlog of a few hundred partitions fills the heap.
    "spark.kafka.consumer.fetchedData.cache.timeout": "5s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "5s",
    # Two entries, the batch that runs and the one before it, are all that is read back from the scratch log of a query.
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    # `${env:HOME}` in an expression of a connector's configuration would be the worker's environment.
    "spark.sql.variable.substitute": "false",
    # Of members with one name the last one counts, as in Connect's JSON.
    "spark.sql.variant.allowDuplicateKeys": "true",
    # A chain of transforms has some hundred intermediate columns in one pass; above this number Spark would not compile it as
    # one.
    "spark.sql.codegen.maxFields": "2000",
}
EXTENSIONS = "io.headrace.Functions"
PLUGINS = ("io.headrace.lanes.LanePlugin", "io.headrace.hosts.HostPlugin")
"""Spark plugins by which lanes and plugins in Java in executors reach the driver."""
# Spark compiles a chain of transforms into one method, and HotSpot by default leaves a method of more than 8000 bytes to its
# interpreter, which is several times slower (docs/decisions/0007).
_COMPILE_HUGE = "-XX:-DontCompileHugeMethods"
# A start runs much code a few thousand times: loading classes, Spark's planning. Compiled with every optimisation, as by default
# after 5000 calls, it costs a third of the start's CPU time; what runs for each record gets there with ten times as many, too.
_COMPILE_LATER = " ".join(
    f"-XX:Tier4{threshold}Threshold={10 * default}"
    for threshold, default in {"Invocation": 5000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}.items()
)
_JIT = f"{_COMPILE_HUGE} {_COMPILE_LATER}"
# The tasks share the driver's heap, which gets what Kafka's scripts give a Connect worker (Spark: 1 GB).
_LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "2g"}
# Records that a source in Java has polled travel with their Spark task: 64 MB by estimate, or a transaction. Spark: 128 MiB.
_REMOTE = {"spark.rpc.message.maxSize": "1024"}
# An idle worker releases memory: without this, Java collects garbage only under load. A collection takes 0.2 s of CPU time.
# What jstat shows is sampled 20 times a second, whether or not somebody looks.
_IDLE = "-XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=50 -XX:-UsePerfData"


def session(conf: Mapping[str, str] | None = None) -> SparkSession:
    """The process's Spark session, created at the first call; `conf` (`spark.*` keys) has an effect at that call only.

    Raises SetupError if Java is missing or too old, jars cannot be fetched, or Spark does not start.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    with _LOCK:
        active = SparkSession.getActiveSession() or SparkSession._instantiatedSession  # pyright: ignore
        if active is not None:
            return active
        find_java()
        load_numpy_lazily()
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        spark_conf = SparkConf().setAll(list(settings(conf or {}).items()))
        try:
            if SparkContext._gateway is None:
                SparkContext._ensure_initialized(gateway=launch(spark_conf))
            session = SparkSession.builder.config(conf=spark_conf).getOrCreate()
        except Exception as e:
            raise SetupError(f"Spark did not start with master {settings(conf or {})['spark.master']}: {e}") from e
        remember_java_names(session.sparkContext._jvm)
        start_callbacks(session)
        release_in_batches(session)
        session._jvm.io.headrace.IdleCollections.limit()  # pyright: ignore
        return session


def settings(conf: Mapping[str, str]) -> dict[str, str]:
    """All `spark.*` settings of the session: headrace's defaults, then the user's; jars and JVM options of both are joined."""
    extras = requested_formats({**_DEFAULTS, **conf})
    extra_jars = [str(jar) for extra in extras for jar in jars(extra.jars)]
    merged = {"spark.app.name": "headrace", "spark.master": default_master(), **_DEFAULTS, "spark.pyspark.python": sys.executable}
    master = conf.get("spark.master", default_master())
    if master.startswith("local"):
        merged |= _LOCAL
    if not in_driver(master):
        merged |= {"spark.plugins": ",".join(PLUGINS), **_REMOTE}
    for extra in extras:
        merged |= extra.settings
    if "spark.master" not in conf:  # the slots of tasks that drive lanes are for them alone
        merged["spark.default.parallelism"] = str(cores())
    merged |= conf
    if not in_driver(master) and "spark.plugins" in conf:
        merged["spark.plugins"] = ",".join([conf["spark.plugins"], *PLUGINS])
    merged.pop(FORMATS, None)
    extensions = [conf.get("spark.sql.extensions"), *(extra.extension for extra in extras), EXTENSIONS]
    merged["spark.sql.extensions"] = ",".join(filter(None, extensions))
    own_jars = [str(jar) for jar in driver_jars()]
    first = [*map(str, compiler_jars()), *own_jars]  # on the class path itself: the archive of classes has theirs
    merged["spark.driver.extraClassPath"] = os.pathsep.join(filter(None, [*first, conf.get("spark.driver.extraClassPath")]))
    for_executors = [] if in_driver(master) else own_jars
    if further := [*filter(None, [conf.get("spark.jars")]), *for_executors, *extra_jars]:
        merged["spark.jars"] = ",".join(further)
    log4j = shlex.quote(f"-Dlog4j2.configurationFile=file:{files('headrace.spark') / 'log4j2.properties'}")
    classes = [shlex.quote(option) for option in using("spark")]  # Spark takes the words apart as a shell does
    for side, before, idle, headrace_options in (("driver", classes, [_IDLE], [log4j, _JIT]), ("executor", [], [], [_JIT])):
        key = f"spark.{side}.extraJavaOptions"
        merged[key] = " ".join(filter(None, [*before, *idle, conf.get(key), *headrace_options]))
    return merged
