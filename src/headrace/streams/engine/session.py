"""The Spark session of an application: shares the process's context, with settings for many small batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.errors import ConfigError
from headrace.spark.plane import in_driver
from headrace.spark.session import session as process_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session(conf: Mapping[str, str], parent: SparkSession | None = None) -> SparkSession:
    """A session that shares the process's context, or that of `parent`. conf: the user's `spark.*` settings, which win.

    Raises SetupError as `headrace.spark.session` does.
    """
    new_session = (parent or process_session(conf)).newSession()
    slots = str(new_session.sparkContext.defaultParallelism)
    # Batches are small and look alike: plans that are made once, and shuffles of as many pieces as there are slots.
    settings = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": slots,
        # Rows stay where their partition of Kafka is read: nothing is moved to join by more than that, nor broadcast.
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.variant.allowDuplicateKeys": "true",
    }
    for key, value in {
        **settings,
        **{k: v for k, v in conf.items() if k.startswith("spark.sql.") and "extensions" not in k},
    }.items():
        new_session.conf.set(key, value)
    return new_session


def require_local(master: str) -> None:
    """Raise ConfigError for a Spark whose tasks run in other processes."""
    if not in_driver(master):
        raise ConfigError(
            f"A streams application keeps its state in its own process: spark.master has to be local[…], not {master}."
        )
