"""What tests of several packages share."""

from __future__ import annotations

import io
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import pytest
import structlog
from structlog.testing import capture_logs

from headrace.runtime import logs
from headrace.runtime.recent_logs import RECENT

T = TypeVar("T")
R = TypeVar("R")

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""For the Java machines of tests: none runs so long that optimised code pays, and its compiler takes half of the processors.
Without that compiler 48 MB are reserved for code, which thousands of plans fill; what is thrown out then is compiled again.
Garbage is collected without the threads and the bookkeeping of G1: 88 recorded cases took 33 s of processor time, not 34 to 38.
"""

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Settings of Spark without generated code, for many plans that run a few times each: to compile them is most of the work."""


def quick_java() -> dict[str, str]:
    """The environment of a process whose Java machines are to be such."""
    return {**os.environ, "JDK_JAVA_OPTIONS": QUICK_JVM}


def wait_until(condition: Callable[[], T], timeout_s: float, what: str | Callable[[], str]) -> T:
    """Ask again and again, every 50 ms, until the condition gives something true; returns that.

    What takes long to be asked is asked more seldom: what is waited for needs the processors more. Fails with `what` was waited
    for and the last answer when the time is over (asked then, if it is a function). An exception of the condition passes.
    """
    pause, end = threading.Event(), time.monotonic() + timeout_s
    while True:
        asked = time.monotonic()
        if answer := condition():
            return answer
        answered = time.monotonic()
        if answered > end:
            waited_for = what if isinstance(what, str) else what()
            raise AssertionError(f"waited {timeout_s:g} s for: {waited_for}; last answer: {answer!r}")
        pause.wait(min(max(0.05, 2 * (answered - asked)), 0.5))


def everything() -> bool:
    """Whether the run is one that leaves nothing out, for which `make test` has no time."""
    return os.environ.get("HEADRACE_TESTS") == "all"


def without_skip(report: pytest.TestReport) -> pytest.TestReport:
    """The report of a test, as a failure if it was skipped: something is not on this machine, so something is not checked."""
    if report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"With HEADRACE_TESTS=all no test may be skipped. {why}"
    return report


def seeds(*given: T) -> list[T]:
    """The first of these; all of them if HEADRACE_TESTS is `all`."""
    return list(given) if everything() else list(given[:1])


@contextmanager
def at_once(job: Callable[[T], R], given: Iterable[T], threads: int) -> Iterator[dict[T, Future[R]]]:
    """A job for each of these, so many of them at once: they begin now, in order, and what is not awaited is let end."""
    with ThreadPoolExecutor(threads) as pool:
        futures = {one: pool.submit(job, one) for one in given}
        try:
            yield futures
        finally:
            for future in futures.values():
                future.cancel()  # what has not begun, if the run ends before its turn


def selected(request: pytest.FixtureRequest, parameter: str) -> list[Any]:
    """The values that a parameter has in the tests of a module that are to run: for a fixture of the module that begins all."""
    items: list[Any] = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return list(dict.fromkeys(item.callspec.params[parameter] for item in items if parameter in item.callspec.params))


def captured_logs(*then: Any) -> AbstractContextManager[list[Any]]:
    """What is logged meanwhile: `{"event": …, "log_level": …, "connector": …, …}`, sentences with their arguments.

    then: further processors of structlog.
    """
    formatting = [structlog.contextvars.merge_contextvars, structlog.stdlib.PositionalArgumentsFormatter()]
    return capture_logs(processors=[*formatting, *then])


def own_messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What this thread has logged: those of the session's worker may log at any time."""
    return [record.getMessage() for record in caplog.records if record.thread == threading.get_ident()]


def about(text: str) -> Callable[[object, str, MutableMapping[str, Any]], MutableMapping[str, Any]]:
    """For `captured_logs`: keeps what this text stands in. Other threads of the process log, too, such as those of its worker."""

    def keep(_logger: object, _level: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if not any(text in str(value) for value in entry.values()):
            raise structlog.DropEvent
        return entry

    return keep


@contextmanager
def log_restored() -> Iterator[None]:
    """The log of the process may be set up meanwhile, and is as before in the end.

    No logger caches what is set up, as those of a worker do: the tests after it would not see what that logger is given.
    """
    root, configured, configure = logging.getLogger(), structlog.get_config(), structlog.configure
    handlers, level = root.handlers[:], root.level

    def without_cache(**settings: Any) -> None:
        settings["cache_logger_on_first_use"] = False
        configure(**settings)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(structlog, "configure", without_cache)
            yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        configure(**configured)


@contextmanager
def kept_logs() -> Iterator[None]:
    """What is logged of connectors is kept for REST, as in a worker's own process, beside what pytest does with it."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    with log_restored():
        logs.configure(io.StringIO())
        root.handlers[:] = [*(handler for handler in handlers if handler is not RECENT), RECENT]
        yield
