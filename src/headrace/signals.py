"""End in good order at Ctrl-C and SIGTERM."""

from __future__ import annotations

import _thread
import signal
import threading


def stop_on_signals(stop: threading.Event) -> None:
    """Set the event at SIGTERM or Ctrl-C; a second one ends the process at once. Does nothing on other threads than the first."""
    if threading.current_thread() is not threading.main_thread():
        return

    def handle(number: int, _frame: object) -> None:
        _thread.start_new_thread(stop.set, ())  # the handler's own thread may be within `stop.wait()`, and have the event's lock
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
