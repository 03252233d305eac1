"""The same question to several workers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headrace.errors import HeadraceError

_AT_ONCE = 8

Entries = list[dict[str, Any]]


def entries_of(ask: Callable[[str], Any], workers: list[str]) -> tuple[Entries, list[str]]:
    """The `entries` that these workers answer, asked side by side; and those that did not answer."""

    def patiently(worker_id: str) -> Entries | None:
        try:
            return ask(worker_id)["entries"]
        except HeadraceError:
            return None

    if not workers:
        return [], []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answered = dict(zip(workers, pool.map(patiently, workers), strict=True))
    found = [entry for entries in answered.values() if entries is not None for entry in entries]
    return found, [name for name, entries in answered.items() if entries is None]
