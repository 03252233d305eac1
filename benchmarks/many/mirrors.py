"""One worker with many mirrors: each copies a topic of one partition, with a record a second or with none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from benchmarks import latency, load
from benchmarks.engine import Mirror
from benchmarks.process import BenchmarkError
from benchmarks.rest import Asking, Request, ask
from benchmarks.throughput import EndOffsets, follow, moment

FIRST = b"-1 0 first"
"""What each source topic holds before its connector is created, in the sender's format: no record of a load."""
CLIENTS = 4
INTERVAL_S = 0.05


@dataclass(frozen=True)
class Size:
    """How much is measured on one worker; durations are seconds."""

    connectors: int
    limit_s: float
    """Within which all connectors have to be created and to have delivered a record."""
    settle_s: float
    """Without records, before the worker is watched idling."""
    idle_s: float
    rate: int = 0
    """Records/s to each topic for the latencies; 0: they are not measured."""
    warm_up_s: float = 0
    measured_s: float = 0
    rest_s: float = 0
    """How long status requests are sent at the bounded rate, and then as long without a pause; 0: they are not."""
    rest_rate: float = 100
    """The bounded rate, in requests/s over all clients."""
    lists: int = 0
    """How often the list of all connectors with their states is asked for."""
    hot_records: int = 0
    """Records of 200 bytes that one mirror has to copy while the others have nothing; 0: not measured."""

    def rows(self) -> list[str]:
        """Return the names of what is measured, in its order."""
        rest = [f"rest-status{kind}-{what}" for kind in ("", "-full") for what in ("p50", "p99", "rate")]
        return [
            *("created", "delivered"),
            *(("latency-p50", "latency-p99") if self.rate else ()),
            *("idle-cpu", "memory"),
            *(("list",) if self.lists else ()),
            *(("hot",) if self.hot_records else ()),
            *(rest if self.rest_s else ()),
        ]


@dataclass(frozen=True)
class Mirrors:
    """The mirrors of one worker, which runs, between two brokers that hold nothing yet."""

    engine: Mirror
    size: Size
    workdir: Path

    def measure(self) -> Iterator[tuple[str, float]]:
        """Measure one row after the other; gives name and value of each as soon as it is known.

        Raises BenchmarkError if the worker does not get through: by its time limit, or since something has failed.
        """
        load.create_topics(self.engine.source, self._topics, partitions=1)
        load.write(self.engine.source, self._topics, FIRST)
        started = time.monotonic()
        self._create(started)
        yield "created", time.monotonic() - started
        self._await_delivery(started)
        yield "delivered", time.monotonic() - started
        if self.size.rate:
            yield from self._latencies()
        time.sleep(self.size.settle_s)
        idle = self.engine.idle(self.size.idle_s)
        yield from ((name, idle[name]) for name in ("idle-cpu", "memory"))
        if self.size.lists:
            yield "list", self._list_ms()
        if self.size.hot_records:
            self._hot()  # a warm-up
            yield "hot", self._hot()
        if self.size.rest_s:
            yield from self._rest()

    @cached_property
    def _topics(self) -> list[str]:
        return [f"many-{number}" for number in range(self.size.connectors)]

    @cached_property
    def _route(self) -> latency.Route:
        copies = [f"{_name(number)}.{topic}" for number, topic in enumerate(self._topics)]
        return latency.Route(self.engine.source, self._topics, self.engine.destination, copies, partitions=1)

    def _create(self, started: float) -> None:
        """POST one connector after the other."""
        self.engine.partitions = 1
        for number, topic in enumerate(self._topics):
            if time.monotonic() - started > self.size.limit_s:
                raise self._too_late(number, "were created")
            config = self.engine.connector(topic, _name(number))
            self.engine.call("POST", "/connectors", {"name": _name(number), "config": config})

    def _await_delivery(self, started: float) -> None:
        """Wait until each copy holds a record."""
        waiting, moved = set(self._route.copies), time.monotonic()
        with EndOffsets(self.engine.destination, *self._route.copies) as offsets:
            while True:
                partitions = [partition for partition in offsets.partitions() if partition.topic in waiting]
                ends = zip(partitions, offsets.ends(partitions), strict=True)
                delivered = {partition.topic for partition, end in ends if end}
                waiting -= delivered
                if not waiting:
                    return
                now = time.monotonic()
                if now - started > self.size.limit_s:
                    raise self._too_late(self.size.connectors - len(waiting), "had delivered")
                if delivered:
                    moved = now
                elif now - moved > 5:
                    self.engine.check_all()
                    moved = now
                time.sleep(INTERVAL_S)

    def _latencies(self) -> Iterator[tuple[str, float]]:
        what = latency.Load(self.size.rate * self.size.connectors, self.size.warm_up_s, self.size.measured_s)
        found = latency.measure(self._route, what, self.engine.check_all, self._log)
        yield from ((f"latency-p{share}", latency.percentile(found, share / 100)) for share in (50, 99))

    def _list_ms(self) -> float:
        """The median time of a request for all connectors with their states, in ms."""
        taken: list[float] = []
        for _ in range(self.size.lists):
            started = time.monotonic()
            self.engine.call("GET", "/connectors?expand=status")
            taken.append((time.monotonic() - started) * 1000)
        return median(taken)

    def _hot(self) -> float:
        """Records/s of one mirror that has much to copy, from the moment when it is resumed; the others have nothing."""
        records, copy = self.size.hot_records, self._route.copies[0]
        self.engine.call("PUT", f"/connectors/{_name(0)}/pause")
        while self.engine.call("GET", f"/connectors/{_name(0)}/status")["tasks"][0]["state"] != "PAUSED":
            time.sleep(INTERVAL_S)
        with EndOffsets(self.engine.destination, copy) as offsets:
            end = offsets.count(offsets.partitions()) + records
            load.append(self.engine.source, self._topics[0], records, 200, self._log)
            started = time.monotonic()
            self.engine.call("PUT", f"/connectors/{_name(0)}/resume")
            samples = follow(offsets, end, self.engine.check_all, self.size.limit_s)
        return records / (moment(samples, end) - started)

    def _rest(self) -> Iterator[tuple[str, float]]:
        """Ask for the status of one connector after the other while records flow: at the bounded rate, then at full speed."""
        size = self.size
        requests: list[Request] = [("GET", f"/connectors/{_name(number)}/status", None) for number in range(size.connectors)]
        flow = latency.Load(size.rate * size.connectors, 0, 2 * size.rest_s + 60)
        sender = self._route.sender(flow, self._log)
        try:
            for row, every_s in (("rest-status", CLIENTS / size.rest_rate), ("rest-status-full", 0.0)):
                answers = ask(Asking(self.engine.url, requests, CLIENTS, every_s), size.rest_s, f"{row} at {self.engine.name}")
                yield from ((f"{row}-p{share}", answers.percentile(share / 100)) for share in (50, 99))
                yield f"{row}-rate", len(answers.seen) / size.rest_s
            sender.check()
        finally:
            sender.stop()

    @property
    def _log(self) -> Path:
        return self.workdir / f"sender-{self.engine.label}.log"

    def _too_late(self, number: int, what: str) -> BenchmarkError:
        return BenchmarkError(
            f"{self.engine.name}: {number} of {self.size.connectors} connectors {what} after {self.size.limit_s:g} s."
        )


def _name(number: int) -> str:
    """The name of a connector, and the prefix of its copy."""
    return f"m{number}"
