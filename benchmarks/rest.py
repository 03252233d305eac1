"""Requests of the REST interface, sent for a while from some threads, and how long the answers took."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any, Self

from benchmarks.latency import percentile
from benchmarks.process import BenchmarkError

Request = tuple[str, str, Any]
"""Method, path, JSON body or None."""
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}


@dataclass
class Answers:
    """When each request was sent (monotonic seconds), how long its answer took (ms), and its status; 0 without an answer."""

    seen: list[tuple[float, float, int]] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Return the time in ms within which the share `share` (0 to 1) of the answers came."""
        return percentile([ms for _, ms, _ in self.seen], share)

    def failures(self, since: float = 0.0) -> int:
        """How many of those sent since then were no success."""
        return sum(1 for at, _, status in self.seen if at >= since and not 200 <= status < 300)

    def restored_s(self, since: float) -> float:
        """Seconds from then until requests succeeded again; 0 if they never failed, infinite if they have not recovered."""
        after = [(at + ms / 1000, status) for at, ms, status in self.seen if at + ms / 1000 >= since]
        failed = [number for number, (_, status) in enumerate(after) if not 200 <= status < 300]
        if not failed:
            return 0.0
        return after[failed[-1] + 1][0] - since if failed[-1] + 1 < len(after) else float("inf")


class Asking(AbstractContextManager["Asking"]):
    """Asks a worker again and again until the context ends: each thread one request after the other."""

    def __init__(self, url: str, requests: Sequence[Request] | Callable[[int], Request], threads: int, every_s: float) -> None:
        """Set up the threads.

        requests: sent in turn; or what gives the n-th.
        every_s: seconds from one request of a thread to its next, if the answer is there by then (a late one is not made up for);
            0: without a pause.
        """
        self._url, self._threads, self._every_s = url, threads, every_s
        self._request = requests if callable(requests) else lambda number: requests[number % len(requests)]
        self._stopped = threading.Event()
        self._running = [threading.Thread(target=self._main, args=(number,), daemon=True) for number in range(threads)]
        self.answers = Answers()

    def __enter__(self) -> Self:
        """Begin."""
        for thread in self._running:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is under way is waited for."""
        self._stopped.set()
        for thread in self._running:
            thread.join(100)

    def _main(self, number: int) -> None:
        # Of the standard library: httpx takes three times the CPU time for a request, on the cores that the worker needs.
        with closing(HTTPConnection(self._url.removeprefix("http://"), timeout=95)) as client:
            due = time.monotonic() + self._every_s * number / self._threads
            while not self._stopped.wait(max(0.0, due - time.monotonic())):
                method, path, body = self._request(number)
                number += self._threads
                at = time.monotonic()
                due = max(at, due + self._every_s)
                try:
                    client.request(method, path, None if body is None else json.dumps(body), _HEADERS)
                    answer = client.getresponse()
                    answer.read()
                    status = answer.status
                except (OSError, HTTPException):
                    client.close()  # the next request opens it again
                    status = 0
                self.answers.seen.append((at, (time.monotonic() - at) * 1000, status))


def ask(asking: Asking, seconds: float, what: str) -> Answers:
    """Have a worker asked for so long and return its answers; BenchmarkError, with `what` in it, if one was no success."""
    with asking:
        time.sleep(seconds)
    answers = asking.answers
    if answers.failures() or not answers.seen:
        raise BenchmarkError(f"{answers.failures()} of {len(answers.seen)} requests of {what} failed.")
    return answers
