"""How the connectors of a flow are brought to what an mm2.properties file says."""

from __future__ import annotations

import threading

import httpx

from headrace.cli.connectors.client import RestClient
from headrace.cli.mirror.run import configure
from headrace.connectors.mirror.mm2_properties import CONNECTORS


def test_a_connector_that_is_refused_leaves_the_others_running_and_another_failure_is_tried_again() -> None:
    source, *others = CONNECTORS
    refused = next(name for name in others if "Checkpoint" in name)
    put: list[tuple[str, int]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        name = request.url.path.split("/")[2]
        if request.method == "GET":
            return httpx.Response(404, json={"message": "none"})
        again = any(earlier == name for earlier, _ in put)
        put.append((name, 400 if name == refused else 500 if name == source and not again else 201))
        return httpx.Response(put[-1][1], json={"message": "said"})

    client = RestClient("http://localhost:8083", 0, httpx.MockTransport(handle))
    stop = threading.Event()
    configure(client, "A->B", [{"name": name} for name in CONNECTORS], stop)
    client.close()
    first = {name: 500 if name == source else 400 if name == refused else 201 for name in CONNECTORS}
    assert put == [*first.items(), (source, 201)]
    assert not stop.is_set()
