"""Ports on loopback."""

from __future__ import annotations

import errno
import random
import socket

from headrace.embedded.settings import HOST
from headrace.errors import SetupError

_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port that nothing listens on.

    It is below the ephemeral ports of outgoing connections: else a client that tries to reconnect to a stopped broker could get
    the broker's port as its own, and occupy it when the broker restarts.
    """
    for port in random.sample(_PORTS, 200):
        if _is_free(port):
            return port
    raise SetupError(f"No free port between {_PORTS[0]} and {_PORTS[-1]} was found on {HOST}.")


def require_free(port: int, listener: str) -> None:
    """Raise SetupError if a port cannot be listened on."""
    try:
        free = _is_free(port)
    except OSError as error:
        raise SetupError(f"{listener} cannot listen on port {port} of {HOST}: {error.strerror}.") from error
    if not free:
        raise SetupError(
            f"{listener} cannot listen on port {port} of {HOST}: it is in use; stop what uses it, or give another port."
        )


def _is_free(port: int) -> bool:
    """Try to listen as Java does, which ignores connections in TIME_WAIT."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True
