"""The sink of docs/sinks.md works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.clusters import Cluster, record
from tests.sinks.sink import Sink

DOCS = Path(__file__).parents[2] / "docs" / "sinks.md"


def test_the_documented_sink_in_python_writes_parquet(
    cluster: Cluster, sink: Callable[..., Sink], topic_name: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, spark: SparkSession,
) -> None:  # fmt: skip
    example = re.search(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert example
    (tmp_path / "folder_sink.py").write_text(example[1], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    topic = topic_name("parquet")
    cluster.create(topic)
    cluster.produce(topic, [record(None, b"a"), record(None, b"b")])
    one = sink("folder_sink.FolderSink", topics=topic, folder=str(tmp_path / "out"))
    one.await_offsets({(topic, 0): 2})
    assert one.worker.call("GET", one.path)["type"] == "sink"
    found = spark.read.parquet(str(tmp_path / "out" / f"{one.name}-0-*")).orderBy("offset").collect()
    assert [(row.topic, row.offset, row.value) for row in found] == [(topic, 0, "a"), (topic, 1, "b")]
