"""Ports on loopback."""

from __future__ import annotations

import errno
import random
import socket

from headrace.embedded.settings import HOST
from headrace.errors import SetupError

_PORTS = range(20_000, 32_000)

_reserved: list[socket.socket] = []


def free_port() -> int:
    """A port that nothing listens on, and that no other call has returned, in any process that still runs.

    It is below the ephemeral ports of outgoing connections: else a client that tries to reconnect to a stopped broker could get
    the broker's port as its own, and occupy it when the broker restarts.
    """
    for port in random.SystemRandom().sample(_PORTS, 200):
        if _is_free(port) and _reserve(port):
            return port
    raise SetupError(f"No free port between {_PORTS[0]} and {_PORTS[-1]} was found on {HOST}.")


def _reserve(port: int) -> bool:
    """Hold the UDP port of the same number, which no server here uses, until this process ends.

    A server listens on its port seconds after the port was chosen; until then another call could choose it.
    """
    reservation = socket.socket(type=socket.SOCK_DGRAM)
    try:
        reservation.bind((HOST, port))
    except OSError:
        reservation.close()
        return False
    _reserved.append(reservation)
    return True


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
