"""What follows the requests of plugins in the JVM of Spark, without Spark: the answers of the host are written down here."""

from __future__ import annotations

import json
import threading
from typing import Any

from structlog.testing import capture_logs

from headrace.spark.connect_host import ConnectHost, HostListener, PluginError, PluginHost
from tests.support import wait_until

FAILURE = {"class": "java.lang.OutOfMemoryError", "message": "Java heap space", "trace": "java.lang.OutOfMemoryError\n"}
KEY = "-----BEGIN KEY-----\nTUlJRXZRSUJBREFO\n-----END KEY-----\n"


class WrittenDown(ConnectHost):
    """A host that answers these, one after the other; then the session has ended."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        super().__init__(lambda: None, {})  # type: ignore[arg-type,return-value]
        self.left = list(answers)

    def exchange(self, method: str, request: str) -> str:
        return json.dumps(self.left.pop(0))


def followed(listener: HostListener, *answers: dict[str, Any]) -> None:
    """Follow a host with these answers to the end, with a listener for `c`."""
    host = WrittenDown(*answers)
    PluginHost.listen(host, "c", listener)
    host._follow()
    host.forget("c")


def test_an_error_of_the_host_itself_ends_no_requests_of_plugins() -> None:
    asked = threading.Event()
    event = {"answer": {"kind": "reconfigure", "id": "c", "text": ""}}
    followed(HostListener(asked.set, lambda _trace: None, lambda _partitions: []), {"error": FAILURE}, event)
    wait_until(asked.is_set, 60, lambda: "the request")


def test_a_request_that_cannot_be_handled_is_said() -> None:
    def broken() -> None:
        raise KeyError("a defect")

    with capture_logs() as logs:
        event = {"answer": {"kind": "reconfigure", "id": "c", "text": ""}}
        followed(HostListener(broken, lambda _trace: None, lambda _partitions: []), event)
    assert [entry["cause"] for entry in logs if entry["event"] == "plugins.request.failed"] == ["KeyError: 'a defect'"]


def test_an_error_has_no_line_of_a_secret_of_several() -> None:
    error = PluginError({"class": "C", "message": f"cannot read {KEY}", "trace": f"C: line 2: {KEY.splitlines()[1]}\n"})
    shown = error.without([KEY])
    assert (shown.message, shown.java_trace) == ("cannot read [hidden]", "C: line 2: [hidden]\n")
