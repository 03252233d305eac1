"""Starts Spark in the background while the worker starts, so that the first task does not wait for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import structlog

from headrace.errors import HeadraceError
from headrace.runtime.distributed_config import DistributedConfig
from headrace.spark import plane
from headrace.spark.session import session

log = structlog.get_logger(__name__)
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
            # Spark's first plan takes a second.
            plane.data_plane(spark).shared_plan(
                b"first", lambda: plane.plan_of(plane.columns(spark).select("destination", "key", "value"))
            )
    except Exception as e:
        log.error("spark.start.failed", cause=str(e))
