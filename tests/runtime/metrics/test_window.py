import math

from headrace.runtime.metrics.window import Meter, Span, Window

SPAN = Span(length_ms=1000, samples=2)


def test_a_rate_is_over_the_samples_that_are_kept() -> None:
    window = Window(SPAN).add(10, 0).add(20, 500)
    assert window.rate(500) == 30 / 1.5  # a window that has only begun counts as one sample more
    assert window.rate(1500) == 30 / 1.5
    assert window.add(5, 1000).rate(1000) == 35 / 1.0
    assert window.rate(2000) == 0.0


def test_what_is_old_is_forgotten() -> None:
    window = Window(SPAN).add(9, 0).add(1, 1000).add(3, 1500)
    assert (window.largest(1999), window.average(1999)) == (9, 13 / 3)
    assert (window.largest(2000), window.average(2000)) == (3, 2)


def test_without_values_there_is_no_average() -> None:
    assert math.isnan(Window(SPAN).average(0))
    assert math.isnan(Window(SPAN).largest(0))
    assert Window(SPAN).rate(0) == 0.0


def test_a_meter_keeps_its_total() -> None:
    meter = Meter(Window(SPAN)).add(3, 0).add(0, 10).add(4, 60_000)
    assert meter.total == 7
    assert len(meter.window.samples) == 1


def test_a_window_of_no_length_divides_by_nothing() -> None:
    assert Window(Span(0, 1)).add(5, 100).rate(100) == 5000
