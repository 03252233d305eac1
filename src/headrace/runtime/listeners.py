"""Addresses of the REST server: those it listens on, and the one advertised to other workers and clients."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.errors import ConfigError

DEFAULT = "http://127.0.0.1:8083"
_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
LAST_PORT = 65_535


@dataclass(frozen=True)
class ListenerAddress:
    """One address to listen on."""

    scheme: str
    """`http` or `https`."""
    host: str
    """Empty is every interface."""
    port: int
    """0 is any free one."""

    @property
    def everywhere(self) -> bool:
        """Whether it listens on every interface."""
        return self.host in ("", "0.0.0.0", "::")


def parse_listener(text: str) -> ListenerAddress:
    """Read `scheme://host:port`, an empty host meaning every interface.

    Raises ConfigError, in Kafka's words where Kafka looks at it; a port that cannot be, its web server refuses later.
    """
    match = _LISTENER.fullmatch(text.strip())
    if not match:
        raise ConfigError("Listener doesn't have the right format or protocol.")
    scheme = match[1].lower()
    if scheme not in ("http", "https"):
        raise ConfigError('Listener protocol must be either "http" or "https".')
    port = int(match[3])
    if not 0 <= port <= LAST_PORT:  # the look-up of a host would take another one, modulo 65,536
        raise ConfigError(f"Listener {text.strip()} has a port that is not between 0 and {LAST_PORT}.")
    return ListenerAddress(scheme, match[2], port)


class ValidListeners:
    """At least one URL, none of them empty (Kafka's ListenersValidator)."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise ConfigError for a list that is empty or has an empty item."""
        if not value:
            raise ConfigError(
                f"Invalid value for {name}, at least one URL is expected, ex: http://localhost:8080,https://localhost:8443."
            )
        if not all(item.strip() for item in value):
            raise ConfigError(f"Empty URL found when parsing {name} list.")

    def __str__(self) -> str:
        return "List of comma-separated URLs, ex: http://localhost:8080,https://localhost:8443."


def advertised(
    listeners: Sequence[ListenerAddress], scheme: str | None, host: str | None, port: int | None, bound_port: int | None = None
) -> tuple[str, str, int]:
    """The (scheme, host, port) under which others reach this worker, by Kafka Connect's rules.

    scheme, host, port: `rest.advertised.listener`, `.host.name`, `.port`; without them the first listener of that
    scheme is advertised ("http" before "https"). bound_port: the port that was really bound when the listener's is 0.
    A listener on every interface is advertised by the address of this machine, one on 127.0.0.1 as `localhost`.
    """
    schemes = [listener.scheme for listener in listeners]
    advertised_scheme = (scheme or "").lower() or ("http" if "http" in schemes or "https" not in schemes else "https")
    listener = next((address for address in listeners if address.scheme == advertised_scheme), listeners[0])
    if not host:
        host = local_address() if listener.everywhere else "localhost" if listener.host == "127.0.0.1" else listener.host
    return advertised_scheme, host, port or (listener.port if listener.port > 0 else bound_port or 0)


def local_address() -> str:
    """The IP address of this machine's own name, `localhost` if the name does not resolve."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "localhost"
