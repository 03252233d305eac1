"""Commands whose exit status or sentences depend on what a worker answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from headrace.cli.app import app

Command = Callable[..., Result]


@pytest.fixture
def answering() -> Iterator[Callable[[Any], Command]]:
    """Makes what runs a command against a server with this answer to every request."""
    body: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body[-1])))
            self.end_headers()
            self.wfile.write(body[-1])

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    def of(answer: Any) -> Command:
        body.append(json.dumps(answer).encode())
        environ = {"HEADRACE_URL": f"http://127.0.0.1:{server.server_port}", "COLUMNS": "160", "TERM": "dumb", "NO_COLOR": "1"}
        return lambda *arguments: CliRunner().invoke(app, list(arguments), env=environ)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield of
        server.shutdown()


def test_a_log_names_the_workers_of_its_entries_and_those_that_are_away(answering: Callable[[Any], Command]) -> None:
    entry = {"time": "10:00:00", "level": "INFO", "task": 0, "event": "begun", "details": {}, "worker_id": "w1:8083"}
    shown = answering({"entries": [entry], "not_reached": ["w2:8083"]})("connectors", "logs", "c")
    assert (shown.exit_code, shown.stdout) == (0, "10:00:00 INFO  w1:8083 task 0: begun\n")
    assert shown.stderr == "Not reached: w2:8083. What they have logged is missing.\n"


@pytest.mark.parametrize(("outcome", "status"), [("replayed", 0), ("dropped", 1), ("failed", 1), ("refused", 1)])
def test_letters_that_are_not_written_are_an_exit_status(answering: Callable[[Any], Command], outcome: str, status: int) -> None:
    letter = {"id": "0:1", "outcome": outcome, "topic": "t", "message": None}
    assert answering({"letters": [letter]})("dead-letters", "replay", "letters", "0:1").exit_code == status
