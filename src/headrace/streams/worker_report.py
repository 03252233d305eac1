"""Reports of an application to a worker (`headrace.report.url`), for the page; they never block processing.

The response to a report may have commands (`headrace.streams.worker_commands`); their results are in the next report.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

import httpx
import structlog

from headrace import __version__
from headrace.errors import ConfigError, HeadraceError
from headrace.streams.config import StreamsConfig
from headrace.streams.states import State
from headrace.streams.topology import Topology
from headrace.streams.worker_commands import CommandRunner, CommandTarget

log = structlog.get_logger(__name__)

INTERVAL_S = 10.0
_WAITING_INTERVAL_S = 2.0
"""While the application waits for its internal topics, when an operator may send it commands."""
_TOPICS_INTERVAL_S, _TIMEOUT_S, _MAX_TEXT = 60.0, 5.0, 64 << 10


class ReportedApplication(CommandTarget, Protocol):
    """The part of an application that reports use."""

    topology: Topology
    config: StreamsConfig

    @property
    def error(self) -> BaseException | None: ...  # noqa: D102
    def state(self) -> State: ...  # noqa: D102
    def is_active(self) -> bool: ...  # noqa: D102
    def is_paused(self) -> bool: ...  # noqa: D102
    def metrics(self) -> Mapping[str, Mapping[str, float]]: ...  # noqa: D102


class WorkerReporter:
    """Sends a report every ten seconds and at each `wake`, from `start` until the application has ended, and then a last one."""

    def __init__(self, application: ReportedApplication, interval_s: float = INTERVAL_S) -> None:
        """Raises ConfigError for an invalid address."""
        config = application.config
        self._application, self._interval_s = application, interval_s
        self._instance = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self._url = _address(config, self._instance)
        self._auth = _credentials(config)
        self._topics: list[dict[str, Any]] | None = None
        self._topics_problem: str | None = None
        self._described_s = -_TOPICS_INTERVAL_S
        self._failing = False
        self._wake = threading.Event()
        self._commands = CommandRunner(application, self._report_now)
        self._thread = threading.Thread(target=self._main, name="worker-report", daemon=True)

    def start(self) -> None:
        """Start to report, unless it was started before; returns at once."""
        if self._thread.ident is None:
            self._thread.start()

    def wake(self) -> None:
        """Send a report now, as something has changed; returns at once."""
        self._wake.set()

    def finish(self) -> None:
        """Report that the application has ended; waits for the worker's response for a short time only."""
        self.wake()
        if self._thread.is_alive():
            self._thread.join(_TIMEOUT_S)

    def report(self) -> dict[str, Any]:
        """The current report."""
        application = self._application
        error = application.error
        return {
            "version": __version__,
            "state": str(application.state()),
            "active": application.is_active(),
            "paused": application.is_paused(),
            "error": str(error)[:_MAX_TEXT] if error is not None else None,
            "setup": application.config.internal_topics_setup,
            "servers": ",".join(application.config.bootstrap_servers),
            "topology": application.topology.describe()[:_MAX_TEXT],
            "internal_topics": self._topics,
            "problem": self._topics_problem,
            "metrics": {name: dict(values) for name, values in application.metrics().items()},
            "results": self._commands.results(),
        }

    def _main(self) -> None:
        with httpx.Client(auth=self._auth, timeout=_TIMEOUT_S) as client:
            ended = False
            while not ended:
                ended = self._application.state() in (State.NOT_RUNNING, State.ERROR)
                if not ended and time.monotonic() - self._described_s >= _TOPICS_INTERVAL_S:
                    self._describe()
                self._send(client)
                waits = self._application.state() is State.CREATED
                self._wake.wait(0 if ended else _WAITING_INTERVAL_S if waits else self._interval_s)
                self._wake.clear()

    def _describe(self) -> None:
        self._described_s = time.monotonic()
        try:
            self._topics, self._topics_problem = self._application.describe_internal_topics().json(), None
        except HeadraceError as error:
            self._topics, self._topics_problem = None, str(error)

    def _report_now(self) -> None:
        """Send a report at once, with the current internal topics, since a command has ended."""
        self._described_s = -_TOPICS_INTERVAL_S
        self.wake()

    def _send(self, client: httpx.Client) -> None:
        try:
            response = client.put(self._url, json=self.report())
            problem = _refusal(response)
            if response.status_code == 200:
                self._commands.submit(response.json().get("commands"))
        except ValueError:
            problem = "the answer is not JSON; is it a worker that headrace.report.url names?"
        except httpx.HTTPError as error:
            problem = str(error) or type(error).__name__
        if problem and not self._failing:
            log.warning("streams.report.failed", cause=problem, meaning="it is tried every 10 s; the work continues")
        self._failing = problem is not None


def _refusal(response: httpx.Response) -> str | None:
    return None if response.is_success else f"{response.status_code}: {response.text[:500]}"


def _address(config: StreamsConfig, instance: str) -> str:
    url = config.report_url or ""
    if not url.startswith(("http://", "https://")) or "@" in url:
        raise ConfigError(
            "headrace.report.url has to be the address of a worker, like http://localhost:8083; a user and password stand in "
            "headrace.report.credentials."
        )
    return f"{url.rstrip('/')}/headrace/streams/{quote(config.application_id, safe='')}/{quote(instance, safe='')}"


def _credentials(config: StreamsConfig) -> httpx.BasicAuth | None:
    if config.report_credentials is None:
        return None
    user, colon, password = config.report_credentials.value.partition(":")
    if not colon:
        raise ConfigError("headrace.report.credentials has to be of the form user:password.")
    return httpx.BasicAuth(user, password)


def reporter_of(application: ReportedApplication) -> WorkerReporter | None:
    """The reporter of an application whose configuration asks for one. Raises ConfigError."""
    return WorkerReporter(application) if application.config.report_url else None
