"""Spark started beside the rest of a worker."""

from __future__ import annotations

import queue
from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headrace.runtime import spark_start


def test_one_start_is_one_attempt(monkeypatch: pytest.MonkeyPatch):
    attempts: queue.Queue[Mapping[str, str]] = queue.Queue()
    monkeypatch.setattr(spark_start, "_start", attempts.put)
    monkeypatch.setattr(spark_start, "_started_settings", [])
    for settings in ({"spark.x": "1"}, {"spark.x": "1"}, {"spark.x": "2"}):
        spark_start.start(settings)
    assert sorted(attempts.get(timeout=120)["spark.x"] for _ in "12") == ["1", "2"]
    assert attempts.empty()


def test_the_first_chain_is_compiled(spark: SparkSession):
    jvm: Any = spark._jvm
    metric = jvm.org.apache.spark.metrics.source.CodegenMetrics
    before = metric.METRIC_COMPILATION_TIME().getCount()
    spark_start.first_chain(spark)
    spark_start.first_chain(spark)
    assert metric.METRIC_COMPILATION_TIME().getCount() <= before + 1  # once, or it was before
