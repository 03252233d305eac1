"""Checks of what a worker reads at its start beside its own options: who may do what, certificates, headers, OpenLineage."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator, Sequence

from headrace.doctor.finding import Finding, warning, wrong
from headrace.errors import HeadraceError
from headrace.lineage.emitter import lineage_client
from headrace.rest import tls
from headrace.rest.access import access
from headrace.rest.headers import CrossOrigin, parse_rules
from headrace.rest.server import exposure
from headrace.runtime.listeners import ListenerAddress
from headrace.runtime.worker_config import WorkerConfig


def problems(config: WorkerConfig) -> Iterator[Finding]:
    """What the worker would not start with, and listeners that are open to the network."""
    before_listeners: Sequence[Callable[[], object]] = (
        lambda: access(config),
        lambda: parse_rules(config.response_headers),
        lambda: CrossOrigin.of(config.cors_origins, config.cors_methods),
        lambda: lineage_client(config),
        lambda: tls.client_context(config) if config.rest_scheme() == "https" else None,
    )
    for read in before_listeners:
        yield from _refused(read)
    for listeners, prefix in ((config.listening(), tls.LISTENERS), (config.admin_listening() or [], tls.ADMIN_LISTENERS)):
        yield from _of_listeners(config, listeners, prefix)


def _refused(read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except HeadraceError as error:
        yield wrong("config", str(error).rstrip("."), "correct it in the worker file, or in the file that it names")


def _of_listeners(config: WorkerConfig, listeners: Sequence[ListenerAddress], prefix: str) -> Iterator[Finding]:
    """Whether their certificates can be read, and which of them are open to the network."""
    context: ssl.SSLContext | None = None
    readable = [listener for listener in listeners if listener.scheme == "http"]
    if len(readable) < len(listeners):
        refused = list(_refused(lambda: tls.server_context(config, prefix)))
        yield from refused
        if not refused:
            context, readable = tls.server_context(config, prefix), list(listeners)
    try:
        authenticated = access(config) is not None
    except HeadraceError:  # it is said already, and whoever has set it means to ask
        authenticated = True
    for listener in readable:
        url = f"{listener.scheme}://{listener.host}:{listener.port}"
        own_context = context if listener.scheme == "https" else None
        if exposed := exposure(url, _addresses(listener), own_context, authenticated):
            yield warning("config", *exposed)


def _addresses(listener: ListenerAddress) -> list[str]:
    """The addresses that would be listened on; none of a host that is not known, which is a finding of its port."""
    try:
        found = socket.getaddrinfo(listener.host or None, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return []
    return [str(entry[4][0]) for entry in found]
