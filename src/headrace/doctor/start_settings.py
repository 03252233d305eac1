"""Checks of what a worker reads at its start beside its own options: who may do what, certificates, headers, OpenLineage."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from headrace.doctor.finding import Finding, warning, wrong
from headrace.errors import HeadraceError
from headrace.lineage.emitter import lineage_client
from headrace.rest import tls
from headrace.rest.access import access
from headrace.rest.headers import CrossOrigin, parse_rules
from headrace.rest.server import exposure
from headrace.runtime.listeners import ListenerAddress
from headrace.runtime.worker_config import WorkerConfig

T = TypeVar("T")


def problems(config: WorkerConfig) -> Iterator[Finding]:
    """What the worker would not start with, and listeners that are open to the network."""
    refusals: list[Finding] = []
    authenticated = _read(lambda: access(config) is not None, refusals)
    _read(lambda: parse_rules(config.response_headers), refusals)
    _read(lambda: CrossOrigin.of(config.cors_origins, config.cors_methods), refusals)
    _read(lambda: lineage_client(config), refusals)
    if config.rest_scheme() == "https":
        _read(lambda: tls.client_context(config), refusals)
    yield from refusals
    for listeners, prefix in ((config.listening(), tls.LISTENERS), (config.admin_listening() or [], tls.ADMIN_LISTENERS)):
        # Where users cannot be read, that is said already, and whoever has set them means to ask.
        yield from _of_listeners(config, listeners, prefix, authenticated is not False)


def _read(read: Callable[[], T], refusals: list[Finding]) -> T | None:
    """What is read; None, and a finding more, if the worker would refuse it."""
    try:
        return read()
    except HeadraceError as error:
        refusals.append(wrong("config", str(error).rstrip("."), "correct it in the worker file, or in the file that it names"))
        return None


def _of_listeners(
    config: WorkerConfig, listeners: Sequence[ListenerAddress], prefix: str, authenticated: bool
) -> Iterator[Finding]:
    """Whether their certificates can be read, and which of them are open to the network."""
    refusals: list[Finding] = []
    has_tls = any(listener.scheme != "http" for listener in listeners)
    context = _read(lambda: tls.server_context(config, prefix), refusals) if has_tls else None
    yield from refusals
    for listener in listeners:
        if listener.scheme != "http" and context is None:
            continue
        url = f"{listener.scheme}://{listener.host}:{listener.port}"
        own_context = context if listener.scheme == "https" else None
        if exposed := exposure(url, _addresses(listener), own_context, authenticated):
            yield warning("config", *exposed)


def _addresses(listener: ListenerAddress) -> list[str]:
    """The addresses that would be listened on; none of a host that is not known, which is a finding of its port."""
    try:
        entries = socket.getaddrinfo(listener.host or None, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return []
    return [str(entry[4][0]) for entry in entries]
