"""A worker on a thread of this process, driven over its REST API."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from headrace.errors import RestError, SetupError
from headrace.worker_process import run_distributed

_START_S, _STOP_S = 300, 120


class EmbeddedWorker:
    """A distributed worker on a thread of this process; a context manager that starts and stops it.

    bootstrap: the cluster that it belongs to; props: its other properties. It shares the process's Spark session.
    """

    def __init__(self, bootstrap: str, props: Mapping[str, str]) -> None:
        self._props = {**props, "bootstrap.servers": bootstrap}
        self._stop, self._ready = threading.Event(), threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="embedded-worker", daemon=True)
        self.url = ""

    def _main(self) -> None:
        try:
            run_distributed(self._props, ready=self._set_ready, stop=self._stop)
        except BaseException as e:
            self._error = e
        finally:
            self._ready.set()

    def _set_ready(self, url: str) -> None:
        self.url = url
        self._ready.set()

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(_START_S) or not self.url:
            raise self._error or SetupError(f"The worker did not start within {_START_S} s.")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(_STOP_S)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """One REST request; returns the parsed answer, None for an empty one.

        Raises RestError with status and message of an error answer.
        """
        answer = httpx.request(method, self.url.rstrip("/") + path, json=body, timeout=100)
        if answer.is_error:
            raise RestError(answer.status_code, f"{method} {path} was answered {answer.status_code}: {answer.json()['message']}")
        return answer.json() if answer.content else None
