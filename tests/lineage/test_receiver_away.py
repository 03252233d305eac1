"""A receiver of OpenLineage's events that hangs, or refuses: the tasks of a real worker copy records all the same."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.embedded.ports import free_port
from headrace.lineage import emitter
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.process import worker_properties
from tests.support import wait_until

_STRING = "org.apache.kafka.connect.storage.StringConverter"
CONVERTERS = {"key.converter": _STRING, "value.converter": _STRING}


@pytest.mark.parametrize("receiver", ["hangs", "refuses"])
def test_a_receiver_that_is_away_holds_no_task_up(
    receiver: str,
    tmp_path: Path,
    destination: Cluster,
    topic_name: Callable[[str], str],
    events: list[Any],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(emitter, "_POLL_INTERVAL_S", 0.1)
    topic, lines, settings = topic_name("lines"), tmp_path / "lines", tmp_path / "openlineage.yml"
    lines.write_text("before\n")
    destination.create(topic)
    with socket.create_server(("127.0.0.1", 0)) as server:  # takes connections, and never answers
        port = server.getsockname()[1] if receiver == "hangs" else free_port()
        url = f"http://127.0.0.1:{port}"
        settings.write_text(json.dumps({"transport": {"type": "http", "url": url, "timeout": 0.5, "retry": {"total": 0}}}))
        properties = worker_properties(f"lineage-{receiver}", f"http://127.0.0.1:{free_port()}") | {
            "openlineage.integration.enabled": "true",
            "openlineage.integration.config.file.path": str(settings),
        }
        with EmbeddedWorker(destination.bootstrap, properties) as worker:
            config = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": str(lines), "topic": topic} | CONVERTERS
            worker.call("POST", "/connectors", {"name": "lines", "config": config})
            wait_until(lambda: destination.size(topic) == 1, 180, "the record before an event is lost")

            def lost() -> list[str]:
                return [entry["cause"] for entry in events if entry["event"] == "openlineage.not-sent"]

            wait_until(lost, 180, "the lost event")
            with lines.open("a") as file:
                file.write("after\n")
            wait_until(lambda: destination.size(topic) == 2, 180, "the record after an event is lost")
            assert worker.call("GET", "/connectors/lines/status")["tasks"][0]["state"] == "RUNNING"
