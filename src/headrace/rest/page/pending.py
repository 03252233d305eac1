"""Parts of the page that need a cluster or other workers; a missing response delays neither page nor REST API."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable

import anyio
from starlette.responses import Response

PATIENCE_S = 2.5
"""How long a browser waits for such a part; above what other workers are given (`headrace.rest.forwarding`)."""
_KEPT_S, _AT_ONCE = 10.0, 16


class PendingAnswers:
    """Pending responses, each computed once for all requests. For one event loop."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Response]] = {}
        self.limiter = anyio.CapacityLimiter(_AT_ONCE)
        """Limiter of the threads that compute them: an unavailable cluster does not block the threads of other requests."""
        self.screens = anyio.CapacityLimiter(_AT_ONCE)
        """Limiter of the threads of all other requests of the page: they wait for threads of the REST API."""

    async def answer(self, key: Hashable, make: Callable[[], Awaitable[Response]]) -> Response | None:
        """What `make` answers, None if it is not there in time: it is made on, and whoever asks next waits for the same one.

        An answer that came too late is kept for ten seconds.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())  # type: ignore[assignment]
            task.add_done_callback(lambda done: asyncio.get_running_loop().call_later(_KEPT_S, self._drop, key, done))
        await asyncio.wait({task}, timeout=PATIENCE_S)
        if not task.done():
            return None
        self._drop(key, task)
        return task.result()

    def _drop(self, key: Hashable, task: asyncio.Task[Response]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    def forget(self) -> None:
        """Drop pending responses after a change. For any thread."""
        self._tasks.clear()


class PendingOfListeners:
    """The pending responses of each listener, as each has its own event loop."""

    def __init__(self) -> None:
        self._by_loop: dict[asyncio.AbstractEventLoop, PendingAnswers] = {}

    def here(self) -> PendingAnswers:
        """The pending responses of the running event loop."""
        return self._by_loop.setdefault(asyncio.get_running_loop(), PendingAnswers())

    def forget(self) -> None:
        """Something has been changed, through whichever listener."""
        for pending in list(self._by_loop.values()):
            pending.forget()
