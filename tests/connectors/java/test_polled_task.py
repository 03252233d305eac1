"""A task in Java whose records Spark takes, without Spark: the host is none, and says what it is told to."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.connectors.base import TaskContext
from headrace.connectors.hosted import Conversion
from headrace.connectors.java.polled_task import JavaPolledTask
from headrace.spark.connect_host import PluginError, PluginHost

SECRET = "hunter2hunter2"


class RefusingHost(PluginHost):
    """A host in which a transform cannot be configured."""

    def exchange(self, method: str, request: str) -> str:
        message = f"cannot log in with {SECRET}"
        return json.dumps(
            {"error": {"class": "Refused", "message": message, "trace": f"Refused: {message}\n\tat Mask.configure"}}
        )


def test_what_plugins_throw_when_they_are_configured_has_no_secrets() -> None:
    host = RefusingHost()
    connector: Any = SimpleNamespace(
        plugin_name="J", location=None, host=host, passwords=lambda _props: [], host_for=lambda *_asked: host
    )
    task: Any = type("Polled", (JavaPolledTask,), {"connector": connector})(TaskContext("c", 0))
    converter = {"class": "C", "location": None, "props": {}}
    task.convert_by(Conversion(converter, converter, converter, secrets=[SECRET]))
    with pytest.raises(PluginError, match="cannot log in with") as refused:
        task.start({})
    assert SECRET not in f"{refused.value.message} {refused.value.java_trace}"
