"""The HTTP server of a worker: uvicorn on threads, bound to the configured listeners."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from headrace.cluster.herder import Herder
from headrace.errors import SetupError
from headrace.rest import logs, tls
from headrace.rest.access import access
from headrace.rest.app import create_admin_app, create_app
from headrace.rest.forwarding import WorkerClient
from headrace.rest.headers import DateHeader
from headrace.rest.request_limits import LimitedProtocol
from headrace.rest.resource import REQUEST_TIMEOUT_S
from headrace.rest.sampler import Sampler
from headrace.rest.streams_reports import StreamsReports
from headrace.runtime.listeners import ListenerAddress
from headrace.runtime.worker_config import WorkerConfig

BACKLOG = 128
STOP_S = 5  # how long running requests may take when the server stops


class RestServer:
    """Serves a herder. `start()` and `stop()` once each; the server ends with the process in any case."""

    def __init__(
        self,
        herder: Herder,
        worker_config: WorkerConfig,
        worker_client: WorkerClient | None = None,
        limit_s: float = REQUEST_TIMEOUT_S,
    ) -> None:
        """Read the settings; others: the other workers; limit_s: seconds that the herder may take for one request.

        Raises ConfigError.
        """
        self._config = worker_config
        self._sampler = Sampler(herder)
        self.reported = StreamsReports()
        """The reports of streams applications to this worker."""
        self._own_client = None if worker_client else WorkerClient(worker_config.rest_scheme())
        worker_client = worker_client or self._own_client
        main = create_app(herder, worker_config, worker_client, limit_s, self.reported)
        self._main = self._services(main, worker_config.listening(), tls.LISTENERS)
        admin_listeners = worker_config.admin_listening()
        admin = create_admin_app(herder, worker_config, worker_client, limit_s, self.reported) if admin_listeners else main
        self._admin = self._services(admin, admin_listeners or [], tls.ADMIN_LISTENERS)

    def _services(self, app: FastAPI, listeners: Sequence[ListenerAddress], prefix: str) -> list[_Service]:
        secure = any(listener.scheme == "https" for listener in listeners)
        context = tls.server_context(self._config, prefix) if secure else None
        return [_Service(app, listener, context if listener.scheme == "https" else None) for listener in listeners]

    def start(self) -> None:
        """Bind and listen; returns when requests are accepted. Raises SetupError if a listener cannot be bound."""
        try:
            for service in (*self._main, *self._admin):
                service.start()
        except SetupError:
            self.stop()
            raise
        self._sampler.start()
        logs.SERVER.info("REST interface listens at %s", ", ".join(self.urls))
        for service in (*self._main, *self._admin):
            if (exposed := exposure(service.url, service.addresses, service.tls, access(self._config) is not None)) is not None:
                logs.SERVER.warning("%s: %s.", *exposed)

    def stop(self) -> None:
        """Stop accepting, let running requests finish for a few seconds, and end. Harmless if not started."""
        self._sampler.stop()
        for service in (*self._main, *self._admin):
            service.stop()
        if self._own_client is not None:
            self._own_client.close()

    @property
    def urls(self) -> list[str]:
        """The addresses of the main listeners, with the real port where 0 was given."""
        return [service.url for service in self._main]

    @property
    def admin_urls(self) -> list[str]:
        """The addresses of the admin resources."""
        return [service.url for service in self._admin or self._main]


class _Service:
    """One app on one listener. tls: of an https:// one."""

    def __init__(self, app: FastAPI, listener: ListenerAddress, tls: ssl.SSLContext | None) -> None:
        self._listener, self.tls = listener, tls
        self._sockets: list[socket.socket] = []
        self._server = _Uvicorn(
            _Config(
                DateHeader(app),
                tls,
                http=LimitedProtocol,  # of h11, which takes any method and hands on the path as it was sent
                lifespan="off",
                access_log=False,
                log_config=None,
                log_level="warning",
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=STOP_S,
            )
        )
        self._thread = threading.Thread(target=self._run, name="rest-server", daemon=True)
        self.url = ""

    @property
    def addresses(self) -> list[str]:
        """The IP addresses that are listened on."""
        return [bound.getsockname()[0] for bound in self._sockets]

    def start(self) -> None:
        self._sockets = _bind(self._listener)
        self.url = _url(self._listener, self._sockets[0].getsockname()[1])
        self._thread.start()
        self._server.up.wait()
        if not self._server.started:
            raise SetupError(f"The REST interface could not be started at {self.url}; the log says why.")

    def stop(self) -> None:
        self._server.exit()
        if self._thread.is_alive():
            self._thread.join()
        _close(self._sockets)

    def _run(self) -> None:
        try:
            self._server.run(self._sockets)
        except Exception:
            logs.SERVER.exception("The REST interface has ended")
        finally:
            self._server.up.set()


class _Config(uvicorn.Config):
    """A server configuration with an existing TLS context."""

    def __init__(self, app: ASGIApp, tls: ssl.SSLContext | None, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._tls = tls

    def load(self) -> None:
        super().load()
        self.ssl = self._tls


class _Uvicorn(uvicorn.Server):
    """Says when it accepts, and waits until it has to end; uvicorn itself wakes up ten times a second to see whether it must."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()
        self._wake: Callable[[], object] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        exiting, loop = asyncio.Event(), asyncio.get_running_loop()
        self._exiting, self._wake = exiting, lambda: loop.call_soon_threadsafe(exiting.set)
        await super().startup(sockets)
        self.up.set()

    async def main_loop(self) -> None:
        await self._exiting.wait()

    def exit(self) -> None:
        """End; may be called from any thread."""
        self.should_exit = True
        with suppress(RuntimeError):  # it has ended
            self._wake()


def exposure(url: str, addresses: Sequence[str], context: ssl.SSLContext | None, authenticated: bool) -> tuple[str, str] | None:
    """What to warn of: a listener beyond loopback that asks nobody who they are, or sends passwords in the clear; else None.

    addresses: that are listened on; context: of TLS; authenticated: whether users have to say who they are. Returns the problem
    and the remedy.
    """
    if all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses):
        return None
    if not authenticated and (context is None or context.verify_mode != ssl.CERT_REQUIRED):
        return (
            f"ANYBODY WHO REACHES {url} MAY CHANGE EVERY CONNECTOR and read its configuration, as nobody is asked who they are",
            "set rest.authentication=basic and rest.authentication.users.file, or listen on 127.0.0.1 only (docs/security.md)",
        )
    if authenticated and context is None:
        return f"Passwords cross the network in the clear at {url}", "use an https:// listener (docs/security.md)"
    return None


def _url(listener: ListenerAddress, port: int) -> str:
    host = f"[{listener.host}]" if ":" in listener.host else listener.host
    return f"{listener.scheme}://{host}:{port}"


def _bind(listener: ListenerAddress) -> list[socket.socket]:
    """Listening sockets on every address that the host's name stands for and this machine has."""
    sockets: list[socket.socket] = []
    problem: OSError | None = None
    port = listener.port
    try:
        addresses = socket.getaddrinfo(listener.host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise _cannot_listen(listener, error) from error
    for family, address in sorted({(entry[0], entry[4]) for entry in addresses}):
        try:
            sockets.append(_listen(family, (address[0], port, *address[2:])))
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # e.g. ::1 without IPv6
                _close(sockets)
                raise _cannot_listen(listener, error) from error
            problem = error
        else:
            port = sockets[0].getsockname()[1]  # with port 0, the other addresses get the one that the first found free
    if not sockets and problem is not None:
        raise _cannot_listen(listener, problem) from problem
    return sockets


def _listen(family: int, address: tuple[Any, ...]) -> socket.socket:
    # With the protocol named: only then does asyncio switch off Nagle's algorithm, without which each answer waits 40 ms for the
    # acknowledgement of its head.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def _cannot_listen(listener: ListenerAddress, error: OSError) -> SetupError:
    return SetupError(
        f"The REST interface cannot listen at {_url(listener, listener.port)} ({error.strerror}); "
        "stop what uses that address or set `listeners` to another."
    )


def _close(sockets: Sequence[socket.socket]) -> None:
    for bound in sockets:
        bound.close()
