"""Rates, averages and maxima over the last few samples, as Kafka's metrics compute them (`SampledStat`, `Rate`). Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Span:
    """What is looked back on: `samples` of `length_ms` each (`metrics.num.samples`, `metrics.sample.window.ms`)."""

    length_ms: int = 30_000
    samples: int = 2

    @property
    def age_ms(self) -> int:
        """How old the beginning of a sample is when it no longer counts."""
        return max(self.length_ms, 1) * self.samples


@dataclass(frozen=True)
class Sample:
    """What was recorded from `begun_ms` on, for the length of a sample."""

    begun_ms: int
    count: int
    total: float
    largest: float
    smallest: float


@dataclass(frozen=True)
class Window:
    """Values as they were recorded lately. Every method takes the present in epoch ms."""

    span: Span
    samples: tuple[Sample, ...] = ()

    def add(self, value: float, now_ms: int) -> Window:
        """With one more value."""
        kept = self._live(now_ms)
        if kept and now_ms - kept[-1].begun_ms < max(self.span.length_ms, 1):
            last = kept[-1]
            sample = Sample(
                last.begun_ms, last.count + 1, last.total + value, max(last.largest, value), min(last.smallest, value)
            )
            return replace(self, samples=(*kept[:-1], sample))
        return replace(self, samples=(*kept, Sample(now_ms, 1, value, value, value)))

    def rate(self, now_ms: int) -> float:
        """The sum of the values per second; a window that has only begun counts as all samples but one."""
        kept = self._live(now_ms)
        if not kept:
            return 0.0
        length = max(self.span.length_ms, 1)
        elapsed = now_ms - kept[0].begun_ms
        elapsed += max(0, self.span.samples - 1 - elapsed // length) * length
        return sum(sample.total for sample in kept) * 1000 / max(elapsed, 1)

    def average(self, now_ms: int) -> float:
        """The mean value; NaN, as in Kafka, if there was none."""
        kept = self._live(now_ms)
        return sum(s.total for s in kept) / sum(s.count for s in kept) if kept else math.nan

    def largest(self, now_ms: int) -> float:
        """The largest value; NaN if there was none."""
        return max((sample.largest for sample in self._live(now_ms)), default=math.nan)

    def smallest(self, now_ms: int) -> float:
        """The smallest value; NaN if there was none."""
        return min((sample.smallest for sample in self._live(now_ms)), default=math.nan)

    def _live(self, now_ms: int) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if now_ms - sample.begun_ms < self.span.age_ms)


@dataclass(frozen=True)
class Meter:
    """A number that only grows, and how fast it does."""

    window: Window
    total: float = 0

    def add(self, value: float, now_ms: int) -> Meter:
        """With so many more; nothing new leaves the window as it is."""
        return Meter(self.window.add(value, now_ms), self.total + value) if value else self
