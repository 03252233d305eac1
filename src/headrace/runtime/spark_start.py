"""Spark started beside all that a worker's process imports and starts, so that the first task does not wait for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import structlog

from headrace.config.providers import configured_resolver
from headrace.config.redaction import concealed
from headrace.errors import HeadraceError
from headrace.runtime.common_worker_config import spark_settings
from headrace.runtime.distributed_config import DistributedConfig
from headrace.spark import plane
from headrace.spark.session import session

log = structlog.get_logger(__name__)


def resolved(props: Mapping[str, str]) -> Mapping[str, str]:
    """A worker's properties with the values of its config providers. Raises ConfigError if one of them fails."""
    with concealed():
        return configured_resolver(props).resolve(props).props


def start_early(props: Mapping[str, str]) -> None:
    """Do as `start` does if a distributed worker can have these properties: what is wrong with them is said by who runs it."""
    try:
        DistributedConfig(props)
    except HeadraceError:
        return
    start(props)


def start(props: Mapping[str, str]) -> None:
    """Start the session of a worker with these properties, and its data plane, in the background; nothing if they run.

    A failure is logged, and shows in the first task. Raises ConfigError if a config provider fails.
    """
    settings = spark_settings(resolved(props))
    threading.Thread(target=_start, args=(settings,), name="spark-start", daemon=True).start()


def _start(settings: Mapping[str, str]) -> None:
    try:
        spark = session(settings)
        if "spark.master" not in settings:  # else the task slots may be meant for something else
            plane.data_plane(spark)
            # What Spark plans first takes it a second.
            plane.plan_of(plane.columns(spark).select("destination", "key", "value"))
    except Exception as e:
        log.error("spark.start.failed", cause=str(e))
