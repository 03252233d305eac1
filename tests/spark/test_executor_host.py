"""What follows the requests of plugins in an executor, without Spark: the executor's answers are written down here."""

from __future__ import annotations

import json
import threading
from collections import deque
from typing import Any

from headrace.spark.connect_host import HostListener
from headrace.spark.executor_host import ExecutorHost
from tests.support import wait_until

FAILURE = {"class": "java.io.IOException", "message": "A jar could not be fetched", "trace": "java.io.IOException: A jar …\n"}


class Answers:
    """Answers the questions of a host, one after the other; then the executor is lost."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.left = deque(answers)

    def ask(self, _executor: str, _method: str, _request: str) -> str | None:
        return json.dumps(self.left.popleft()) if self.left else None


def test_a_host_that_could_not_be_opened_at_first_is_followed_again():
    asked = threading.Event()
    event = {"kind": "reconfigure", "id": "c@1", "text": ""}
    answers = Answers({"error": FAILURE}, {"answer": None}, {"error": FAILURE}, {"answer": event})
    host = ExecutorHost("0#1", "here", answers)
    host.listen("c@1", HostListener(asked.set, lambda _trace: None, lambda _partitions: []))
    wait_until(asked.is_set, 60, lambda: f"the request; {len(answers.left)} answers are left")
