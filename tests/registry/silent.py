"""A registry that accepts connections, and answers nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_server(port: int = 0) -> Iterator[str]:
    """Its URL. port: 0 for any that is free."""
    with socket.create_server(("127.0.0.1", port), backlog=64) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
