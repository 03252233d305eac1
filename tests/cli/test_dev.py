from __future__ import annotations

import signal

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from headrace.cli.dev import ready_of
from tests.cli.command import running
from tests.process import worker_properties


@pytest.mark.slow
def test_a_broker_and_a_worker_on_it_run_until_a_signal():
    with running("dev", "--port", "0", "--rest-port", "0") as dev:
        bootstrap = dev.line().removeprefix("bootstrap.servers=")
        rest = dev.line().removeprefix("rest=")
        page = dev.line().removeprefix("page=")
        cluster = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=60)
        assert {"connect-configs", "connect-offsets", "connect-status"} <= set(cluster.topics)
        assert httpx.get(rest, timeout=100).json()["kafka_cluster_id"] == cluster.cluster_id
        assert httpx.get(page, headers={"Accept": "text/html"}, timeout=100).text.startswith("<!doctype html>")
        assert dev.end(signal.SIGTERM) == 0


@pytest.mark.parametrize(("settings", "printed"), [
    ({}, "rest=http://127.0.0.1:8083/\npage=http://127.0.0.1:8083/ui\n"),
    ({"rest.page.enable": "False"}, "rest=http://127.0.0.1:8083/\n"),
])  # fmt: skip
def test_the_address_of_the_page_is_printed_only_where_there_is_one(
    settings: dict[str, str], printed: str, capsys: pytest.CaptureFixture[str]
):
    ready_of(worker_properties("dev", "http://localhost:0") | settings)("http://127.0.0.1:8083/")
    assert capsys.readouterr().out == printed
