"""Optional formats of a session beyond Spark's own: their jars are fetched when a worker enables them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.errors import ConfigError
from headrace.jvm.jars import Conf

FORMATS = "spark.headrace.formats"


@dataclass(frozen=True)
class Extra:
    """An optional format."""

    jars: Conf
    """The configuration of ivy.xml."""
    extension: str | None = None
    """The class for `spark.sql.extensions`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the session."""


EXTRAS: Mapping[str, Extra] = {
    "delta": Extra(
        "delta",
        "io.delta.sql.DeltaSparkSessionExtension",
        {
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            # Each commit reads the state of its table, in so many pieces: the default of 50 is for logs of gigabytes.
            "spark.databricks.delta.snapshotPartitions": "4",
        },
    ),
    "postgresql": Extra("postgresql"),
}


def requested_formats(conf: Mapping[str, str]) -> list[Extra]:
    """The formats in `spark.headrace.formats`, a comma-separated list. Raises ConfigError for an unknown name."""
    names = [name for part in conf.get(FORMATS, "").split(",") if (name := part.strip())]
    for name in names:
        if name not in EXTRAS:
            raise ConfigError.invalid(FORMATS, name, f"It has to be some of {', '.join(EXTRAS)}")
    return [EXTRAS[name] for name in dict.fromkeys(names)]
