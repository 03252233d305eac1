"""The few words of `psql` that docs/cdc.md uses, for machines without it: asks the server that the test names, over JDBC."""

from __future__ import annotations

import os
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket

from tests.spark_formats.conftest import Sql


@contextmanager
def answering(place: Path, sql_in: Callable[[str], Sql]) -> Iterator[None]:
    """Run the statements of this program, one after the other, while the context lasts. sql_in: runs them in a database."""

    class Statement(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            database, _, text = self.rfile.read().decode().partition("\n")
            try:
                answer = "\n".join("|".join(map(str, row)) for row in sql_in(database)(text))
            except Exception as error:
                answer = f"ERROR: {error}"
            self.wfile.write(answer.encode())

    with socketserver.UnixStreamServer(str(place), Statement) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def main() -> int:
    """`psql [-d <database>] -c <statements>`."""
    words = sys.argv
    database = words[words.index("-d") + 1] if "-d" in words else os.environ["PGDATABASE"]
    with socket(AF_UNIX, SOCK_STREAM) as asking:
        asking.connect(os.environ["PSQL_SOCKET"])
        asking.sendall(f"{database}\n{words[words.index('-c') + 1]}".encode())
        asking.shutdown(1)
        answer = b"".join(iter(lambda: asking.recv(4096), b"")).decode()
    print(answer)
    return 1 if answer.startswith("ERROR") else 0


if __name__ == "__main__":
    sys.exit(main())
