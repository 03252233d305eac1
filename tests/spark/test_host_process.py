"""Processes of connectors that are acquired at the same time; they are none, but what a test lets start."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from headrace.background import in_background
from headrace.spark import host_process
from headrace.spark.host_process import ProcessSettings, acquire, running

SLOW, QUICK = ProcessSettings("slow", "64m"), ProcessSettings("quick", "64m")


def test_nobody_waits_for_the_start_of_another_connectors_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_start, started = threading.Event(), threading.Event(), list[ProcessSettings]()

    class Started:
        alive = True

        def __init__(self, settings: ProcessSettings, _driver: Any) -> None:
            if settings == SLOW:
                begun.set()
                assert may_start.wait(240)
            self.users = 0
            started.append(settings)

    driver: Any = None
    monkeypatch.setattr(host_process, "ProcessHost", Started)
    monkeypatch.setattr(host_process, "_PROCESSES", {})
    slow = [in_background(lambda: acquire(SLOW, driver), "slow") for _ in range(2)]
    assert begun.wait(60)
    quick = in_background(lambda: (acquire(QUICK, driver), running("slow")), "quick")
    try:
        host, of_slow = quick.result(120)
    finally:
        may_start.set()
    first, second = (call.result(120) for call in slow)
    assert (host.users, of_slow, first is second, first.users, started) == (1, [], True, 2, [QUICK, SLOW])
