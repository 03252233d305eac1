"""Latency of a count per key: from the send of a record until its count is in a consumer's hands."""

from __future__ import annotations

import math
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.process import BenchmarkError, Child
from benchmarks.throughput import EndOffsets

RATE, WARMUP_S, MEASURED_S = 200, 30, 40
UNITS = {"p50": "ms", "p99": "ms", "filled": "s", "rss": "MB"}
_FILLED_S, _GRACE_S = 600, 30


def measure(broker: str, command: list[str], keys: int, log: Path) -> dict[str, float]:
    """Milliseconds, `p50` and `p99`; `filled` in s, until a record of each key is counted; and `rss` in MB.

    command: an application that counts `records` by key into `out`, and has to count a record of each of `keys` keys first.
    No key is sent twice, so that every record has a result of its own.
    """
    app = Child("latency", command, log)
    try:
        begun, out = time.monotonic(), EndOffsets(broker, "out")
        app.wait_until(lambda: sum(out.ends(out.partitions())) >= keys, "count the keys", _FILLED_S)
        filled = time.monotonic() - begun
        found = sorted(_latencies(broker, out, keys))
        return {"p50": _quantile(found, 0.5), "p99": _quantile(found, 0.99), "filled": filled, "rss": _rss(app.pid)}
    finally:
        app.kill()


def _latencies(broker: str, out: EndOffsets, keys: int) -> list[float]:
    consumer = Consumer({"bootstrap.servers": broker, "group.id": "none", "fetch.wait.max.ms": 10, "enable.auto.commit": False})
    partitions = out.partitions()
    ends = zip(partitions, out.ends(partitions), strict=True)
    consumer.assign([TopicPartition(one.topic, one.partition, end) for one, end in ends])
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 0})
    total, skipped = RATE * (WARMUP_S + MEASURED_S), RATE * WARMUP_S
    sent: dict[bytes, tuple[int, float]] = {}
    found: list[float] = []
    begin, number, arrived = time.monotonic(), 0, 0
    while arrived < total:
        while number < total and time.monotonic() >= begin + number / RATE:
            key = b"k%d" % (number * 7919 % keys)
            sent[key] = (number, time.monotonic())
            producer.produce("records", key=key, value=b"x" * 90)
            number += 1
        producer.poll(0)
        for message in consumer.consume(100, 0.002):
            key = message.key()
            if key is not None and key in sent:
                which, since = sent.pop(key)
                arrived += 1
                if which >= skipped:
                    found.append((time.monotonic() - since) * 1000)
        if time.monotonic() > begin + total / RATE + _GRACE_S:
            raise BenchmarkError(f"{total - arrived} of {total} records have no result.")
    consumer.close()
    return found


def _quantile(values: list[float], part: float) -> float:
    return values[min(math.ceil(part * len(values)), len(values)) - 1]


def _rss(pid: int) -> float:
    """The resident memory of a process and of those that it started, in MB."""
    total, waiting = 0.0, [pid]
    while waiting:
        one = waiting.pop()
        status = Path(f"/proc/{one}/status").read_text()
        total += next((float(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0.0)
        for task in Path(f"/proc/{one}/task").iterdir():
            waiting += map(int, (task / "children").read_text().split())
    return total
