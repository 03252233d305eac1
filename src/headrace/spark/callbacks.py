"""The server for calls of the JVM into Python (a query's batches), for more calls than Py4J's own supports.

Py4J waits for calls with `select`, which fails once the process has a thousand files open: then every query hangs in its first
batch. And its backlog is five connections; for further ones the kernel drops the first packet, which is repeated after one, two,
four seconds and so on, until the call fails.
"""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Any

import structlog

from headrace.retry import Backoff

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

_BACKLOG, _POLL_INTERVAL_S, _PAUSE_S = 1024, 5.0, 0.1


def start_callbacks(spark: SparkSession) -> None:
    """Start the server, unless the session has one already."""
    from py4j.clientserver import ClientServer, PythonServer
    from pyspark.java_gateway import ensure_callback_server_started

    class Server(PythonServer):
        """Accepts calls like its base class, also on sockets with large file descriptors."""

        def run(self) -> None:
            """Accept connections until the server is shut down."""
            server: Any = self.server_socket
            server.listen(_BACKLOG)
            backoff = Backoff(_PAUSE_S, _POLL_INTERVAL_S)
            with selectors.DefaultSelector() as selector:
                selector.register(server, selectors.EVENT_READ)
                while not self.is_shutdown:
                    try:
                        if selector.select(_POLL_INTERVAL_S) and not self.is_shutdown:
                            self._accept(server)
                            backoff.succeeded()
                    except OSError as error:  # a lost call must not end the server
                        if not self.is_shutdown:
                            log.warning("jvm.callback.failed", cause=str(error))
                            time.sleep(backoff.failed())

        def _accept(self, server: Any) -> None:
            accepted, _ = server.accept()
            connection = self._create_connection(accepted, accepted.makefile("rb"))
            with self.lock:
                self.connections.add(connection)
                connection.start()

    gateway: Any = spark.sparkContext._gateway
    if isinstance(gateway, ClientServer):
        gateway._create_callback_server = lambda callback_server_parameters: Server(
            gateway._gateway_client, gateway.java_parameters, gateway.python_parameters, gateway.gateway_property
        )
    ensure_callback_server_started(gateway)
