"""Rates, averages and maxima over the last few samples, as Kafka's metrics compute them (`SampledStat`, `Rate`). Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Span:
    """Length of a window."""

    length_ms: int = 30_000
    """Of a sample: `metrics.sample.window.ms`."""
    samples: int = 2
    """`metrics.num.samples`."""

    @property
    def age_ms(self) -> int:
        """The age at which a sample, by its beginning, is dropped."""
        return max(self.length_ms, 1) * self.samples


@dataclass(frozen=True)
class Sample:
    """What was recorded from `begun_ms` on, for the length of a sample."""

    begun_ms: int
    """Epoch ms."""
    count: int
    total: float
    largest: float
    smallest: float


@dataclass(frozen=True)
class Window:
    """Recently recorded values. Every method takes the current time in epoch ms."""

    span: Span
    samples: tuple[Sample, ...] = ()

    def add(self, value: float, now_ms: int) -> Window:
        """The window with one more value."""
        live = self._live(now_ms)
        if live and now_ms - live[-1].begun_ms < max(self.span.length_ms, 1):
            last = live[-1]
            sample = Sample(
                last.begun_ms, last.count + 1, last.total + value, max(last.largest, value), min(last.smallest, value)
            )
            return replace(self, samples=(*live[:-1], sample))
        return replace(self, samples=(*live, Sample(now_ms, 1, value, value, value)))

    def rate(self, now_ms: int) -> float:
        """The sum of the values per second; the elapsed time counts as at least all samples but one."""
        live = self._live(now_ms)
        if not live:
            return 0.0
        length = max(self.span.length_ms, 1)
        elapsed = now_ms - live[0].begun_ms
        elapsed += max(0, self.span.samples - 1 - elapsed // length) * length
        return sum(sample.total for sample in live) * 1000 / max(elapsed, 1)

    def average(self, now_ms: int) -> float:
        """The mean value; NaN, as in Kafka, if there was none."""
        live = self._live(now_ms)
        return sum(s.total for s in live) / sum(s.count for s in live) if live else math.nan

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
    """A counter and its rate."""

    window: Window
    total: float = 0

    def add(self, value: float, now_ms: int) -> Meter:
        """The meter after an increase; 0 adds no sample."""
        return Meter(self.window.add(value, now_ms), self.total + value) if value else self
