"""Spark started beside the rest of a worker."""

from __future__ import annotations

import queue
from collections.abc import Mapping

import pytest

from headrace.runtime import spark_start


def test_one_start_is_one_attempt(monkeypatch: pytest.MonkeyPatch):
    attempts: queue.Queue[Mapping[str, str]] = queue.Queue()
    monkeypatch.setattr(spark_start, "_start", attempts.put)
    monkeypatch.setattr(spark_start, "_started_settings", [])
    for settings in ({"spark.x": "1"}, {"spark.x": "1"}, {"spark.x": "2"}):
        spark_start.start(settings)
    assert sorted(attempts.get(timeout=120)["spark.x"] for _ in "12") == ["1", "2"]
    assert attempts.empty()
