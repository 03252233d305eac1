"""How a process takes notice of signals."""

from __future__ import annotations

import signal
import threading

import pytest

from headrace.signals import stop_on_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_sets_the_event_whatever_the_first_thread_is_doing(number: signal.Signals):
    stop = threading.Event()
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)}
    try:
        stop_on_signals(stop)
        # As within `stop.wait()`: a handler that took the lock would never return.
        with stop._cond:  # pyright: ignore[reportAttributeAccessIssue]
            signal.raise_signal(number)
        assert stop.wait(30)
        assert signal.getsignal(number) is signal.SIG_DFL, "a second one ends the process"
    finally:
        for n, handler in before.items():
            signal.signal(n, handler)
