"""Starts Spark in the background while the worker starts, so that the first task does not wait for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from headrace.errors import HeadraceError
from headrace.runtime.distributed_config import DistributedConfig
from headrace.spark import plane
from headrace.spark.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter"
_HEADER_CONVERTER = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
_started_settings: list[dict[str, str]] = []  # the settings of sessions that were started


def start_early(props: Mapping[str, str]) -> None:
    """Call `start` if these properties are valid for a distributed worker; errors are left to the worker's own start."""
    try:
        settings = DistributedConfig(props).spark_conf()
    except HeadraceError:
        return
    start(settings)


def start(settings: Mapping[str, str]) -> None:
    """Start a session with these `spark.*` settings and its data plane in the background, unless they are started.

    A failure is logged, and shows in the first task: another call with the same settings does nothing.
    """
    if (conf := dict(settings)) in _started_settings:
        return
    _started_settings.append(conf)
    threading.Thread(target=_start, args=(settings,), name="spark-start", daemon=True).start()


def _start(settings: Mapping[str, str]) -> None:
    try:
        spark = session(settings)
        if "spark.master" not in settings:  # else the task slots may be reserved
            plane.data_plane(spark)
        first_chain(spark)
    except Exception as e:
        log.error("spark.start.failed", cause=str(e))


def first_chain(spark: SparkSession) -> None:
    """Plan and compile the chain of a copy, which no feed uses: for the first one Spark and Java take more than a second."""
    # here, beside the start of Java
    from headrace.converters.base import Writers, load, load_header
    from headrace.converters.typed_column import TypedColumn, TypedHeaders
    from headrace.record import RecordColumns
    from headrace.runtime.chain import FeedChain, Steps
    from headrace.runtime.tolerance import NO_TOLERANCE
    from headrace.transforms.chain import Readers

    columns = plane.columns(spark)
    record = RecordColumns(
        topic=columns["destination"],
        key=columns["key"],
        value=columns["value"],
        headers=columns["headers"],
        timestamp=columns["timestamp"],
        partition=columns["partition"],
        origin={part: columns[part] for part in ("topic", "partition", "offset")},
    )
    writing = Writers(load(_CONVERTER, {}, True), load(_CONVERTER, {}, False), load_header(_HEADER_CONVERTER, {}))
    reading = Readers(TypedColumn("bytes"), TypedColumn("bytes"), TypedHeaders())
    plan: Any = FeedChain(Steps("", 0, reading, (), writing, NO_TOLERANCE), record).plan(columns)
    plan.compile()
