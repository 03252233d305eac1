"""The few words of `psql` that docs/cdc.md uses, for machines without it: asks the server that the test names, over JDBC."""

from __future__ import annotations

import os
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket

from tests.spark_formats.conftest import Sql


@contextmanager
def answering(place: Path, sql: Sql) -> Iterator[None]:
    """Run the statements of this program, one after the other, while the context lasts."""

    class Statement(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            text = self.rfile.read().decode()
            try:
                answer = "\n".join("|".join(map(str, row)) for row in sql(text))
            except Exception as error:
                answer = f"ERROR: {error}"
            self.wfile.write(answer.encode())

    with socketserver.UnixStreamServer(str(place), Statement) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def main() -> int:
    """`psql … -c <statements>`."""
    with socket(AF_UNIX, SOCK_STREAM) as asking:
        asking.connect(os.environ["PSQL_SOCKET"])
        asking.sendall(sys.argv[sys.argv.index("-c") + 1].encode())
        asking.shutdown(1)
        answer = b"".join(iter(lambda: asking.recv(4096), b"")).decode()
    print(answer)
    return 1 if answer.startswith("ERROR") else 0


if __name__ == "__main__":
    sys.exit(main())
