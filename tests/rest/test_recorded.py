"""The server answers like Kafka Connect wherever the answer does not depend on connectors.

The scenarios with connectors are played against a whole worker in tests/conformance/test_rest.py.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from tests.rest.conftest import Answer, Client
from tests.rest.memory_herder import MemoryHerder
from tests.rest.recorded import differ, exchanges

GROUPS = {
    "R01-root": {},
    "R12-unknown": {},
    "R31-admin-off": {"admin.listeners": ""},
    "R37-headers": {
        "access.control.allow.origin": "http://app.example",
        "access.control.allow.methods": "GET,POST,PUT",
        "response.http.headers.config": "add X-Custom: yes, set X-Frame-Options: DENY",
    },
}


# A name with a slash can be reached here (docs/parity.md), so there is no connector `../` instead of a path that is refused.
DIFFERENT = {"R01-root.052"}


@pytest.fixture(autouse=True)
def recorded_level(log_levels_restored: None) -> None:
    logging.getLogger().setLevel(logging.INFO)


def send(call: Client, request: dict[str, Any]) -> Answer:
    query = "" if request.get("query") is None else "?" + request["query"]
    raw = json.dumps(request["body"]) if "body" in request else request.get("body_raw")
    return call(request["method"], request["path"] + query, raw=raw, headers=request["headers"])


def normal(value: Any) -> Any:
    """What the recording has as placeholders."""
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    return "<cluster_id>" if value == "memory" else value


@pytest.mark.parametrize("group", GROUPS)
def test_answers_are_those_recorded(group: str, serve: Callable[..., Client]) -> None:
    call = serve(GROUPS[group])
    different = {}
    for line in exchanges(group):
        answer = send(call, line["request"])
        if found := differ().response(line, answer.status, answer.headers, answer.text, normal):
            different[line["id"]] = found
    assert different.keys() == DIFFERENT & {line["id"] for line in exchanges(group)}, different


def test_log_levels_are_read_and_set_as_recorded(serve: Callable[..., Client], herder: MemoryHerder) -> None:
    call, different = serve(), {}
    for line in exchanges("R29-loggers"):
        if int(line["id"].rpartition(".")[2]) > 42:
            break  # the worker that was recorded restarted here
        answer = send(call, line["request"])
        herder.read_log_levels()
        if found := differ().response(line, answer.status, answer.headers, answer.text, normal):
            different[line["id"]] = found
    assert different == {}
