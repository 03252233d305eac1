"""Parts of pages that are asked for again and again, as they were rendered last: nothing is rendered twice for equal contents."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

from starlette.responses import Response

_KEPT = 64
"""Parts, of up to some 50 kB each."""


class RenderedParts:
    """The HTML of the last parts by what is in them: many pages may look at the same connectors. Thread-safe."""

    def __init__(self) -> None:
        self._by_contents: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def get(self, contents: str, render: Callable[[], Response]) -> bytes:
        """The HTML with these contents (`stamp_of`): rendered unless one of the last parts had them."""
        with self._lock:
            html = self._by_contents.pop(contents, None)
        if html is None:
            html = bytes(render().body)
        with self._lock:
            self._by_contents[contents] = html
            for oldest in list(self._by_contents)[:-_KEPT]:
                del self._by_contents[oldest]
        return html


PARTS = RenderedParts()


def stamp_of(contents: object) -> str:
    """A short text, equal for what has the same representation."""
    return hashlib.sha256(contents if isinstance(contents, bytes) else repr(contents).encode()).hexdigest()[:16]
