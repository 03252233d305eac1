"""Two real workers of one group: the one that does not run a task shows what the other does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.page.conftest import WAIT_S, await_state, mirror
from tests.process import WorkerProcess, worker_properties
from tests.support import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_worker_that_does_not_run_a_task_shows_it_all_the_same(
    open_page: Callable[..., Page], destination_broker: Broker, source: Cluster, topic_name: Callable[[str], str], orders: str,
    tmp_path: Path, shot: Callable[..., None],
):  # fmt: skip
    from playwright.sync_api import expect

    group, name = topic_name("pair"), f"mirror-{orders}"
    ports = [free_port(), free_port()]
    host = {"rest.advertised.host.name": "127.0.0.1"}
    here, there = (worker_properties(group, f"http://127.0.0.1:{port}") | host for port in ports)
    with (
        EmbeddedWorker(destination_broker.bootstrap, here) as first,
        WorkerProcess(tmp_path, there | {"bootstrap.servers": destination_broker.bootstrap}) as second,
    ):
        second.await_ready()
        ids = [f"127.0.0.1:{port}" for port in ports]
        wait_until(lambda: sharing(first) == sorted(ids), WAIT_S, lambda: f"both have a share: {sharing(first)}")
        first.call("POST", "/connectors", {"name": name, "config": mirror(source, orders)})
        await_state(first, name, "RUNNING", "RUNNING")
        [task] = first.call("GET", f"/connectors/{name}/status")["tasks"]
        [idle] = [worker_id for worker_id in ids if worker_id != task["worker_id"]]

        page = open_page("/ui", at=f"http://{idle}")
        row = page.locator(f"tr[data-name={name}]")
        expect(row).to_contain_text("1/1")
        expect(page.locator(".counters")).to_contain_text("2 workers")
        row.get_by_role("link", name=name).click()
        expect(page.locator("#status tbody tr")).to_contain_text(task["worker_id"])
        page.get_by_role("link", name="Log").click()
        expect(page.locator("ol.log")).to_contain_text("task.running")
        page.goto(f"/ui/connector?name={name}&tab=history")
        expect(page.locator("main")).to_contain_text(task["worker_id"])
        figures = f"/headrace/connectors/{name}/figures"
        wait_until(lambda: len(first.call("GET", figures)["samples"]) > 1, WAIT_S, "two samples, which a chart needs")
        page.goto(f"/ui/connector?name={name}")  # which asks for the charts twice a minute
        expect(page.get_by_role("img", name="Records per second, last hour")).to_be_visible()
        shot(page, "two-workers")
        page.close()  # before its worker ends


def sharing(worker: EmbeddedWorker) -> list[str]:
    """The workers of its group, once each of them has a share of the work, and what one gives to another has arrived."""
    workers = worker.call("GET", "/headrace/workers")["workers"]
    slots = {one["worker_id"]: one["facts"]["slots"] for one in workers if one["facts"] and one["facts"]["slots"]}
    count = max((one["facts"]["slot_count"] for one in workers if one["facts"]), default=0)
    return sorted(slots) if sum(slots.values()) == count else []
