"""The buffer of a task in Java whose records Spark takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headrace import plugins
from headrace.plugins import Kind
from headrace.spark.connect_host import HostListener
from headrace.testing.worker import EmbeddedWorker
from tests.deployed import CONNECTOR_S
from tests.java_plugins.archives import COUNTING
from tests.support import wait_until

_JSON = {"class": "org.apache.kafka.connect.json.JsonConverter", "location": None, "props": {}}
_HEADER = {"class": "org.apache.kafka.connect.storage.SimpleHeaderConverter", "location": None, "props": {}}


def waiting(spark: Any, thread: str) -> bool:
    """Whether a thread of the JVM waits until it is notified."""
    threads = spark._jvm.java.lang.Thread.getAllStackTraces().keySet()
    return any(found.getName() == thread and found.getState().toString() == "WAITING" for found in threads)


def test_large_records_fill_the_buffer_by_their_bytes(java_worker: EmbeddedWorker, tmp_path: Path, spark: Any):
    counting = plugins.find(COUNTING, Kind.SOURCE)
    host = counting.host
    props = {"counter": "0", "topic": "t", "records": "30", "large": "yes", "journal": str(tmp_path / "journal")}
    props |= {"task.class": "org.example.CountingSourceTask"}
    task: Any = {"id": "large@1", "name": "large", "number": 0, "context": "[large|task-0] ", "class": COUNTING, "props": props}
    task |= {"location": counting.location, "key": _JSON, "value": _JSON, "header": _HEADER, "stages": [], "secrets": []}
    host.listen("large@1", HostListener(lambda: None, lambda _trace: None, lambda partitions: [None for _ in partitions]))
    host.ask("task.start", **task, retry=None, transactional=False)

    def buffered() -> int:
        cut = host.ask("task.cut", id="large@1", most=1, travels=False, wait=0)
        return cut["to"] - cut["from"] + cut["waiting"]

    try:
        full = lambda: buffered() >= 6 and (waiting(spark, "task-thread-large@1") or buffered() == 30)  # noqa: E731
        wait_until(full, CONNECTOR_S, lambda: f"a full buffer, not {buffered()} records")
        assert buffered() == 6  # 96 MB: the poll that has passed 64 MB is the last one
        host.ask("task.acknowledge", id="large@1", to=3)
        wait_until(lambda: buffered() == 6, CONNECTOR_S, lambda: f"the next poll, not {buffered()} records")
    finally:
        host.ask("task.stop", id="large@1", wait=5_000)
        host.forget("large@1")
