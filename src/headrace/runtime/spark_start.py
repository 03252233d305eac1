"""Spark started beside all that a worker's process imports and starts, so that the first task does not wait for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import structlog

from headrace.errors import HeadraceError
from headrace.runtime.distributed_config import DistributedConfig
from headrace.spark import plane
from headrace.spark.session import session

log = structlog.get_logger(__name__)
_begun: list[dict[str, str]] = []  # with which settings


def start_early(props: Mapping[str, str]) -> None:
    """Do as `start` does if a distributed worker can have these properties: what is wrong with them is said by who runs it."""
    try:
        settings = DistributedConfig(props).spark_conf()
    except HeadraceError:
        return
    start(settings)


def start(settings: Mapping[str, str]) -> None:
    """Start a session with these `spark.*` settings and its data plane in the background; nothing where they run.

    A failure is logged, and shows in the first task: another call with the same settings does nothing.
    """
    if (wanted := dict(settings)) in _begun:
        return
    _begun.append(wanted)
    threading.Thread(target=_start, args=(settings,), name="spark-start", daemon=True).start()


def _start(settings: Mapping[str, str]) -> None:
    try:
        spark = session(settings)
        if "spark.master" not in settings:  # else the task slots may be meant for something else
            # What Spark plans first takes it a second.
            plane.data_plane(spark).shared_plan(
                b"first", lambda: plane.plan_of(plane.columns(spark).select("destination", "key", "value"))
            )
    except Exception as e:
        log.error("spark.start.failed", cause=str(e))
