"""Requests that one worker sends to another, whatever the connector is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest

from headrace.errors import ElsewhereError
from headrace.rest.forwarding import WorkerClient
from tests.rest.conftest import Client
from tests.rest.memory_herder import MemoryHerder

AWKWARD = [".", "..", "a/b", "%2e", "ü ?&#", "..%2f"]
CONFIG = {"connector.class": "x"}


class Follower(MemoryHerder):
    """Knows who the leader is."""

    def __init__(self, leader: str) -> None:
        super().__init__()
        self.leader = leader

    def put_config(self, name: str, config: Any) -> Any:
        raise ElsewhereError("Only the leader can do this", self.leader)

    def delete(self, name: str) -> None:
        raise ElsewhereError("Only the leader can do this", self.leader)


@pytest.mark.parametrize("name", AWKWARD)
def test_a_forwarded_request_is_about_the_same_connector(serve: Callable[..., Client], herder: MemoryHerder, name: str) -> None:
    leader = serve()
    follower = serve(herder=Follower(f"http://{leader.address}/"))
    path = "/connectors/" + quote(name, safe="")
    created = follower("PUT", f"{path}/config", CONFIG)
    assert (created.status, list(herder.configs)) == (201, [name])
    location = unquote(created.headers["location"])
    assert location == f"http://{follower.address}/connectors/{name}", "at the worker that was asked"
    assert follower("DELETE", path).status == 204
    assert not herder.configs


@pytest.mark.parametrize("name", AWKWARD)
def test_task_configurations_are_handed_over_for_the_same_connector(
    serve: Callable[..., Client], herder: MemoryHerder, name: str
) -> None:
    taken: list[tuple[str, list[dict[str, str]]]] = []
    herder.leader.verify = lambda body, headers: None  # type: ignore[method-assign]
    herder.leader.put_task_configs = lambda name, configs: taken.append((name, configs))  # type: ignore[method-assign]
    others = WorkerClient()
    signed = {"X-Connect-Authorization": "c2lnbmVk", "X-Connect-Request-Signature-Algorithm": "HmacSHA256"}
    others.post(f"http://{serve().address}/", ["connectors", name, "tasks"], b'[{"a":"1"}]', signed)
    others.close()
    assert taken == [(name, [{"a": "1"}])]
