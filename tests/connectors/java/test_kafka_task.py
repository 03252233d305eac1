"""A task in Java that is ended while it starts or ends already. The host is none: what is asked of it is looked at."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.hosted import Conversion, HostedClients
from headrace.connectors.java.kafka_task import JavaTask
from headrace.spark.connect_host import PluginHost

CONVERTER: dict[str, Any] = {"class": "C", "location": None, "props": {}}


class SlowHost(PluginHost):
    """A host that takes its time to stop a task."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.released = 0
        self.stopping, self.may_stop = threading.Event(), threading.Event()

    def exchange(self, method: str, request: str) -> str:
        self.asked.append(method)
        if method == "hosted.stop":
            self.stopping.set()
            assert self.may_stop.wait(240)
        return json.dumps({"answer": True})

    def release(self) -> None:
        self.released += 1


@pytest.fixture
def host() -> SlowHost:
    return SlowHost()


def started(host: SlowHost, context: TaskContext) -> JavaTask:
    connector: Any = SimpleNamespace(
        __name__="J",
        __module__=__name__,
        plugin_name="J",
        location=None,
        host=host,
        passwords=lambda _props: [],
        host_for_task=lambda *_asked: host,
    )
    task = JavaTask.of(connector)(context)
    task.run_with(Conversion(CONVERTER, CONVERTER, CONVERTER), HostedClients({}, {}, {}))
    task.start({})
    return task


def test_one_that_two_threads_end_is_left_once_and_its_offsets_are_taken_until_it_has_ended(host: SlowHost) -> None:
    task = started(host, TaskContext("c", 0))
    forgotten = threading.Event()
    host.forget = lambda id: forgotten.set()  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(task.end, 120)]
        assert host.stopping.wait(120)
        ends.append(pool.submit(task.stop))  # as the task's own thread does
        assert not forgotten.wait(0.3), "it still stores offsets"
        host.may_stop.set()
        assert [end.result(120) for end in ends] == [None, None]
    assert forgotten.is_set()
    assert (host.released, host.asked.count("hosted.stop")) == (1, 1)


def test_one_that_was_stopped_before_its_host_was_found_does_not_start(host: SlowHost) -> None:
    context = TaskContext("c", 0)
    context.stopping.set()
    task = started(host, context)
    task.end(10)
    assert (host.asked, host.released) == ([], 1)
