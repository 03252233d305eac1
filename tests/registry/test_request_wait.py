"""Requests to a registry can be cancelled, and their callers are informed about long waits."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from headrace.errors import RetriableError
from headrace.registry import request_wait
from headrace.registry.client import Registry
from headrace.registry.request_wait import WaitLimit, limit_wait
from headrace.registry.settings import RegistrySettings
from headrace.runtime.schema_usage import SchemaUsage
from headrace.testing.registry import SchemaRegistry
from tests.registry.silent import silent_server
from tests.support import wait_until

LONG_S = 60.0
SILENT = r"The schema registry has not answered \(http://127.0.0.1:\d+\); the request was cancelled\."


def test_a_silent_registry_is_not_waited_for_once_the_task_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_wait, "_REPORT_AFTER_S", 0.1)
    usage, stopping, raised = SchemaUsage(), threading.Event(), SimpleQueue[BaseException]()
    with silent_server() as url:
        registry = Registry(RegistrySettings(urls=(url,)))  # which would be waited for four minutes

        def ask() -> None:
            try:
                with usage.running("orders", 0, stopping), usage.asking("orders", 0):
                    registry.schema(1)
            except RetriableError as error:
                raised.put(error)

        threading.Thread(target=ask, daemon=True).start()
        reported = wait_until(lambda: usage.waiting_for("orders", 0), LONG_S, lambda: "what is waited for")
        assert f"The schema registry does not answer ({url})" in (reported or "")
        assert raised.empty()
        stopping.set()
        with pytest.raises(RetriableError, match=SILENT):
            raise raised.get(timeout=LONG_S)
        assert usage.waiting_for("orders", 0) is None


def test_whoever_gives_up_first_ends_the_waiting() -> None:
    task, run = threading.Event(), threading.Event()
    run.set()
    with (
        silent_server() as url,
        limit_wait(WaitLimit(task)),
        limit_wait(WaitLimit(run)),
        pytest.raises(RetriableError, match=SILENT),
    ):
        Registry(RegistrySettings(urls=(url,))).schema(1)


def test_an_answer_is_waited_for_as_long_as_the_asker_says() -> None:
    late = r"The schema registry has not answered \(http://127.0.0.1:\d+\) in 0.2 s\."
    with (
        silent_server() as url,
        limit_wait(WaitLimit(threading.Event(), timeout_s=0.2)),
        pytest.raises(RetriableError, match=late),
    ):
        Registry(RegistrySettings(urls=(url,))).schema(1)


def test_who_waits_for_a_limited_time_hears_why_there_is_no_answer(registry: SchemaRegistry) -> None:
    url = registry.url
    registry.stop()
    settings = RegistrySettings(urls=(url,), retries=1000, wait_ms=60_000, longest_wait_ms=60_000)
    refused = rf"The schema registry does not answer \({url}\): {url}: .*refused"
    with limit_wait(WaitLimit(threading.Event(), timeout_s=20.0)), pytest.raises(RetriableError, match=refused):
        Registry(settings).schema(1)


def test_an_answer_that_comes_late_ends_what_is_told(registry: SchemaRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_wait, "_REPORT_AFTER_S", 0.0)
    registry.register("s", '"int"')
    url = registry.url
    registry.stop()
    reported, answers = SimpleQueue[str | None](), SimpleQueue[str]()
    settings = RegistrySettings(urls=(url,), retries=1000, wait_ms=100, longest_wait_ms=100)

    def ask() -> None:
        with limit_wait(WaitLimit(threading.Event(), reported.put)):
            answers.put(Registry(settings).schema(1).text)

    threading.Thread(target=ask, daemon=True).start()
    assert "The schema registry does not answer" in (reported.get(timeout=LONG_S) or "")
    registry.start()
    assert answers.get(timeout=LONG_S) == '"int"'
    assert reported.get(timeout=LONG_S) is None
