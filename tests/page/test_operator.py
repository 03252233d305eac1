"""What an operator does, in a real browser on a real worker whose connectors really fail."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headrace.background import in_background
from headrace.embedded import Broker
from headrace.errors import RestError
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.kafka_source.test_faults import silent
from tests.page.conftest import CREATION, WAIT_S, WIDE, await_state, mirror, state_of
from tests.page.looks import look_at, look_at_dialog, tab_to
from tests.rest.test_lineage import TOPOLOGY
from tests.rest.test_page import STREAMS
from tests.support import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page


Open = Callable[..., "Page"]
Connector = Callable[..., str]
Shot = Callable[..., None]
APPLICATION = STREAMS | {"topology": TOPOLOGY, "internal_topics": [
    {**STREAMS["internal_topics"][0], "name": "counts-by-city-changelog"},
    {**STREAMS["internal_topics"][0], "name": "counts-by-city-repartition", "kind": "repartition", "partitions": 12},
]}  # fmt: skip
NOWHERE, CAUSE = "127.0.0.1:1", "Timeout while waiting for AdminClient to return topic list"


def lines_to(cluster: Cluster, topic: str, folder: Path) -> dict[str, str]:
    """A connector that writes the lines of a file to a topic of another cluster than the worker's."""
    (file := folder / "lines").write_text("one\n")
    there = {f"{client}.override.bootstrap.servers": cluster.bootstrap for client in ("producer", "admin")}
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": f"lines.{topic}",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter", **there, **CREATION}  # fmt: skip


def write_one(cluster: Cluster, topic: str) -> None:
    """Write a record of now."""
    cluster.produce(topic, [record(b"k", timestamp=time.time_ns() // 1_000_000)])


def await_rates(worker: EmbeddedWorker, source: Cluster, topic: str, name: str) -> None:
    """Write to a topic until the overview has a line of a connector's records per second."""

    def has_line() -> bool:
        write_one(source, topic)
        (row,) = worker.call("GET", f"/headrace/overview?q={name}")["connectors"]
        return sum(rate > 0 for rate in row["rates"]) >= 2

    wait_until(has_line, WAIT_S, f"records per second of {name}")


@pytest.fixture
def failed(connector: Connector, worker: EmbeddedWorker, source: Cluster, orders: str) -> str:
    """A connector whose source cluster is not there."""
    name = connector(f"mirror-{orders}", mirror(source, orders, NOWHERE))
    await_state(worker, name, "FAILED")
    return name


@pytest.fixture
def homeless(connector: Connector, worker: EmbeddedWorker, destination: Cluster, orders: str, tmp_path: Path) -> tuple[str, Path]:
    """A sink that fails because the folder of its file is not there, and the file."""
    topic, file = f"lines.{orders}", tmp_path / "later" / "lines"
    destination.create(topic)
    destination.produce(topic, [record(None, b"one")])
    converter = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    name = connector(f"sink-{orders}", {"connector.class": "FileStreamSink", "topics": topic, "file": str(file), **converter})
    await_state(worker, name, "RUNNING", "FAILED")
    return name, file


def test_a_failure_is_found_read_mended_and_seen_to_run(
    open_page: Open, worker: EmbeddedWorker, source: Cluster, destination: Cluster, failed: str, orders: str, shot: Shot
):
    from playwright.sync_api import expect

    page = open_page("/ui")
    first = page.locator("table.overview tbody tr").first
    expect(first).to_contain_text(failed)
    expect(first.locator(".problem")).to_contain_text(CAUSE)
    first.get_by_role("link", name=failed).click()
    expect(page.locator(".cause .sentence")).to_contain_text(CAUSE)
    expect(page.locator(".cause .because")).to_contain_text(f"Could not reach the Kafka cluster at '{NOWHERE}'")
    page.get_by_text("Whole trace").click()
    expect(page.locator(".cause pre")).to_contain_text("ConnectException")
    shot(page, "failure")

    page.get_by_role("link", name="Configuration").click()
    expect(page.locator("table.settings")).to_contain_text("[hidden]")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_role("group", name="Transforms: mask")).to_contain_text("list, high importance")
    unset = page.get_by_role("group", name="Error Handling", exact=True)
    unset.locator("summary").click()
    tolerance = unset.get_by_label("errors.log.enable")
    assert page.locator(f"#{tolerance.get_attribute('list')} option").count() == 2
    page.get_by_label("tasks.max", exact=True).fill("none")
    expect(page.locator(".setting .error", has_text="Invalid value none")).to_be_visible()
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_role("dialog")).to_contain_text("cannot be applied yet")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("tasks.max", exact=True).fill("1")
    page.get_by_label("source.bootstrap.servers").fill(source.bootstrap)
    page.get_by_role("button", name="Preview", exact=True).click()  # at once: the validation that begins does not end it
    created = page.get_by_label("Topics that these records go to").locator("tbody tr")
    expect(created).to_contain_text(f"copy.{orders}")
    expect(created).to_contain_text("to be created rule default")
    expect(page.locator("#problems")).to_contain_text("Valid")
    page.get_by_role("button", name="Review changes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("del")).to_have_text([NOWHERE])
    expect(dialog.locator("ins")).to_have_text([source.bootstrap, "1"])
    planned = dialog.get_by_label("Topics that it writes to").locator("tbody tr")
    expect(planned).to_contain_text(f"copy.{orders}")
    expect(planned).to_contain_text("to be created rule default")
    assert "s3cret" not in page.content()
    shot(page, "diff")
    look_at_dialog(page, "diff", shot)
    dialog.get_by_role("button", name="Apply").click()

    page.wait_for_url(re.compile("/ui/connector"))
    expect(page.locator(".title .pill")).to_have_text("running")
    expect(page.locator("#status")).to_contain_text("1/1")
    expect(page.locator("ul.plain code")).to_have_text(f"copy.{orders}")
    assert worker.call("GET", f"/connectors/{failed}")["config"]["producer.override.ssl.key.password"] == "s3cret"
    page.reload()  # the topics are asked for once a minute
    topics = page.get_by_role("region", name="Topics").locator("tbody tr")
    expect(topics).to_have_text(re.compile(f"copy.{orders}"))
    destination.grow(f"copy.{orders}", 2)
    page.reload()
    expect(page.get_by_role("region", name="Topics")).to_contain_text("1 difference from the rules")
    expect(topics).to_contain_text("partitions should be 1, is 2")
    shot(page, "running")

    page.goto(f"/ui/graph?connector={failed}")
    expect(page.locator("svg .node")).to_have_count(3)
    shot(page, "graph")
    page.get_by_role("link", name=f"connector {failed}").click()
    page.get_by_role("link", name="History").click()
    history = page.locator("table.grid tbody tr")
    expect(history.filter(has_text=CAUSE).first).to_contain_text("failed")
    expect(history.first).to_contain_text("running")
    page.get_by_role("link", name="Audit").click()
    change = page.locator("tbody tr", has_text=f"PUT /connectors/{failed}/config")
    expect(change).to_contain_text("127.0.0.1 page")
    expect(change).to_contain_text("settings: source.bootstrap.servers, tasks.max")
    shot(page, "audit")


def test_the_log_of_a_connector_is_shown_while_it_is_written(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    name = connector(f"logged-{orders}", mirror(source, orders))
    await_state(worker, name, "RUNNING", "RUNNING")
    page = open_page(f"/ui/connector?name={name}&tab=log")
    expect(page.locator("ol.log")).to_contain_text("task.running")
    page.evaluate("""() => { const low = new CSSStyleSheet(); low.replaceSync('ol.log { max-height: 40px }');
        document.adoptedStyleSheets = [low]; document.querySelector('ol.log').scrollTop = 5; }""")
    before = page.locator("ol.log li").count()
    worker.call("PUT", f"/connectors/{name}/pause")
    expect(page.locator("ol.log li").nth(before)).to_be_visible()  # nobody has asked for it
    assert page.locator("ol.log").evaluate("(log) => log.scrollTop") == 5  # who reads further up is left there
    page.get_by_label("From").select_option("ERROR")
    expect(page.locator("#log")).to_contain_text("No entry of ERROR or higher is kept")


def test_thirty_are_chosen_and_what_failed_is_restarted(
    open_page: Open,
    worker: EmbeddedWorker,
    connector: Connector,
    homeless: tuple[str, Path],
    source: Cluster,
    orders: str,
    shot: Shot,
):
    from playwright.sync_api import expect

    failed, file = homeless
    for n in range(29):
        connector(f"idle-{orders}-{n:02}", mirror(source, orders), "STOPPED")
    for name in [connector(f"copy-{orders}-{n}", mirror(source, orders)) for n in range(3)]:
        await_state(worker, name, "RUNNING", "RUNNING")
    page = open_page(f"/ui?q={orders}")
    for n in range(3):
        worker.call("DELETE", f"/connectors/copy-{orders}-{n}")
    expect(page.locator("tbody tr")).to_have_count(30)
    page.get_by_label("Select all on this page").check()
    expect(page.locator("#chosen")).to_have_text("30")
    page.get_by_role("button", name="Restart failed").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_count(1)
    expect(dialog).to_contain_text(failed)
    expect(dialog).to_contain_text("29 selected are skipped")
    shot(page, "bulk")
    look_at_dialog(page, "bulk", shot)
    file.parent.mkdir()  # what it failed for is mended
    dialog.get_by_role("button", name="Restart failed").click()
    expect(page.locator("#messages")).to_contain_text("asked for 1 connector")
    expect(page.locator("#chosen")).to_have_text("30")  # chosen until they are let go, through every renewal
    expect(page.locator("tbody tr", has_text=failed).locator("td.state")).to_have_text("running")
    await_state(worker, failed, "RUNNING", "RUNNING")
    wait_until(lambda: file.read_text() == "one\n", WAIT_S, "the record in the file")
    assert state_of(worker, f"idle-{orders}-00") == ["STOPPED"]


def test_all_that_match_are_chosen_on_every_page_and_a_renewal_keeps_the_place(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    names = [connector(f"many-{orders}-{n:02}", mirror(source, orders), "STOPPED") for n in range(52)]
    for name in names:
        await_state(worker, name, "STOPPED")
    page = open_page(f"/ui?q={orders}")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_role("button", name="Select all 52 that match").click()
    expect(page.locator("#bulk")).to_contain_text("52 selected, 2 of them not shown here")
    page.evaluate("scrollTo(0, 600)")
    place = page.evaluate("scrollY")
    worker.call("PUT", f"/connectors/{names[20]}/pause")
    expect(page.locator("tbody tr", has_text=names[20]).locator("td.state")).to_have_text("paused")  # it has been renewed
    assert page.evaluate("scrollY") == place > 0
    page.get_by_role("button", name="Pause", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("None of the selected connectors is in a state that allows this.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(dialog.locator("li")).to_have_text([re.compile(names[20])])
    expect(dialog).to_contain_text("51 selected are skipped")
    dialog.get_by_role("button", name="Stop").click()
    await_state(worker, names[20], "STOPPED")


def test_a_task_is_restarted_with_its_cause_in_the_history_and_a_connector_deleted(
    open_page: Open, worker: EmbeddedWorker, homeless: tuple[str, Path]
):
    from playwright.sync_api import expect

    name, file = homeless
    page = open_page(f"/ui/connector?name={name}")
    expect(page.locator(".cause .sentence")).to_contain_text(str(file))
    file.parent.mkdir()
    page.get_by_role("button", name="Restart task 0").click()
    expect(page.locator("#messages")).to_contain_text(f"Task 0 of {name} has been restarted.")
    expect(page.locator(".title .pill")).to_have_text("running")
    await_state(worker, name, "RUNNING", "RUNNING")
    wait_until(lambda: file.read_text() == "one\n", WAIT_S, "the record in the file")
    page.get_by_role("link", name="History").click()
    asked = page.locator("table.grid tbody tr", has_text="Asked over REST")
    expect(asked).to_contain_text("task 0")
    expect(asked.locator("time")).to_have_text(re.compile("now|ago"))
    expect(asked.locator("time")).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+Z$"))
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_text([re.compile(name)])
    dialog.get_by_role("button", name="Delete").click()
    page.wait_for_url(re.compile("/ui$"))
    wait_until(lambda: name not in worker.call("GET", "/connectors"), WAIT_S, "the connector is gone")
    expect(page.locator("tbody tr", has_text=name)).to_have_count(0)


def test_a_value_of_several_lines_outlives_an_edit_of_another_setting(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    lines = {"note": "\nSELECT *\n  FROM orders\n", "pem": "-----BEGIN-----\r\nMIIB\r\n-----END-----\r\n"}
    name = connector(f"lines-{orders}", {**mirror(source, orders), **lines}, "STOPPED")
    await_state(worker, name, "STOPPED")
    page = open_page(f"/ui/edit?name={name}")
    expect(page.get_by_label("note", exact=True)).to_have_value(lines["note"])
    page.get_by_label("tasks.max", exact=True).fill("1")
    page.get_by_label("Name of another setting").first.fill("pasted")
    pasted = page.get_by_label("Its value").first
    pasted.evaluate("""(field) => { const data = new DataTransfer(); data.setData("text/plain", "a\\nb");
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })); }""")
    page.get_by_role("button", name="Review changes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("tbody th")).to_have_text(["pasted", "tasks.max"])
    dialog.get_by_role("button", name="Apply").click()
    page.wait_for_url(re.compile("/ui/connector"))
    config = worker.call("GET", f"/connectors/{name}")["config"]
    assert {key: config[key] for key in lines} == lines
    assert (config["pasted"], config["tasks.max"]) == ("a\nb", "1")


def test_an_edit_of_what_was_changed_meanwhile_is_refused(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    name = connector(f"twice-{orders}", mirror(source, orders), "STOPPED")
    await_state(worker, name, "STOPPED")
    page = open_page(f"/ui/edit?name={name}")
    expect(page.locator("#problems")).to_contain_text("Valid")
    worker.call("PATCH", f"/connectors/{name}/config", {"tasks.max": "3"})
    page.get_by_label("topic.list.timeout.ms").fill("3000")
    page.get_by_role("button", name="Review changes").click()
    expect(page.locator("#messages")).to_contain_text("has been changed since this form was opened")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert worker.call("GET", f"/connectors/{name}")["config"]["topic.list.timeout.ms"] == "60000"


def test_freshness_grows_while_a_connector_is_paused_and_is_nothing_when_it_has_caught_up(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    def freshness_ms() -> int | None:
        (row,) = worker.call("GET", f"/headrace/overview?q={name}")["connectors"]
        return row["freshness_ms"]

    name = connector(f"fresh-{orders}", mirror(source, orders))
    await_state(worker, name, "RUNNING", "RUNNING")
    wait_until(lambda: freshness_ms() == 0, WAIT_S, "all is copied")
    worker.call("PUT", f"/connectors/{name}/pause")
    await_state(worker, name, "PAUSED", "PAUSED")
    source.produce(orders, [record(b"k")])
    wait_until(lambda: (freshness_ms() or 0) > 0, WAIT_S, "a record waits")
    page = open_page(f"/ui?q={name}&sort=-freshness")
    expect(page.locator('td[data-label="freshness"]')).to_have_text(re.compile(r"\d"))
    worker.call("PUT", f"/connectors/{name}/resume")
    wait_until(lambda: freshness_ms() == 0, WAIT_S, "it is copied")
    expect(page.locator('td[data-label="freshness"]')).to_have_text("0 ms")


def test_a_choice_outlives_filters_and_says_what_of_it_is_not_shown(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    names = [connector(f"idle-{orders}-{n}", mirror(source, orders), "STOPPED") for n in range(2)]
    for name in names:
        await_state(worker, name, "STOPPED")
    page = open_page(f"/ui?q={orders}&state=STOPPED")
    page.get_by_label("Select all on this page").check()
    expect(page.locator("#bulk")).to_contain_text("2 selected")
    worker.call("PUT", f"/connectors/{names[0]}/resume")  # by somebody else: it leaves the filter
    expect(page.locator("#bulk")).to_contain_text("2 selected, 1 of them not shown here")
    page.get_by_role("button", name="Restart", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_text([re.compile(name) for name in reversed(names)])  # those that are shown come first
    page.keyboard.press("Escape")
    page.goto(f"/ui?q={orders}")
    expect(page.locator("td.tick input:checked")).to_have_count(2)
    page.get_by_role("button", name="Clear").click()
    page.reload()
    expect(page.locator("#bulk")).to_be_hidden()


def test_a_cluster_that_says_nothing_is_named_with_who_reads_and_writes_there_and_the_rest_is_shown(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, source_broker: Broker, orders: str,
    shot: Shot, meant: list[str], tmp_path: Path,
):  # fmt: skip
    from playwright.sync_api import expect

    # The page asks about the silent cluster, too.
    meant += [f"{words} {status}" for words in ("status of", "Status Error Code") for status in (500, 503)]
    name = connector(f"far-{orders}", mirror(source, orders))
    writer = connector(f"writes-far-{orders}", lines_to(source, orders, tmp_path))
    for one in (name, writer):
        await_state(worker, one, "RUNNING", "RUNNING")
    copied = f"copy.{orders}"  # its topics are shown while the source is silent, so there have to be some before
    wait_until(lambda: copied in worker.call("GET", f"/connectors/{name}/topics")[name]["topics"], WAIT_S, "a copied record")
    page = open_page(f"/ui/connector?name={name}")
    lag = page.locator("section", has=page.get_by_role("heading", name="Lag by partition"))
    expect(lag.locator("tbody tr")).to_have_count(1)
    with silent(source_broker):
        page.reload()
        expect(lag).to_contain_text("has not answered within 2.5 s")
        expect(page.locator("#status")).to_contain_text("1/1")
        expect(page.get_by_role("region", name="Topics")).to_contain_text(copied)
        shot(page, "source-away")
        patient = in_background(lambda: source.admin.partition_offsets([(orders, 0)], "latest", 180), "patient")
        with pytest.raises(RestError, match=r"was answered 500: .* within 5 s"):
            worker.call("GET", f"/headrace/connectors/{name}/lag")
        assert not patient.done(), "who looks at a lag does not wait as long as a request may take"
        page.goto(f"/ui?q={orders}")
        notes = page.locator("p.note", has_text=f"No answer from the cluster {source.bootstrap}")
        expect(notes).to_contain_text("1 connector reads from it, and its lag is not known. 1 connector writes to it.")
        expect(page.locator("tbody tr", has_text=writer)).to_contain_text(
            f"from the cluster {source.bootstrap} that it writes to."
        )
        shot(page, "clusters-away")
    page.goto(f"/ui/connector?name={name}")
    expect(lag.locator("tbody tr")).to_have_count(1)


def test_offsets_of_a_stopped_connector_are_edited_and_reset(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str, shot: Shot
):
    from playwright.sync_api import expect

    name = connector(f"stopped-{orders}", mirror(source, orders), "STOPPED")
    await_state(worker, name, "STOPPED")
    partition = {"topic:partition": f"{orders}:0"}
    worker.call("PATCH", f"/connectors/{name}/offsets", {"offsets": [{"partition": partition, "offset": {"offset": 4}}]})
    page = open_page(f"/ui/connector?name={name}&tab=offsets")
    area = page.locator("textarea")
    area.fill(area.input_value().replace('"offset": 4', '"offset": 1'))
    page.get_by_role("button", name="Review changes").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("del")).to_have_text('{"offset": 4}')
    expect(dialog.locator("ins")).to_have_text('{"offset": 1}')
    shot(page, "offsets")
    look_at_dialog(page, "offsets", shot)
    dialog.get_by_role("button", name="Set 1 offset").click()
    expect(page.locator("#messages")).to_contain_text("altered successfully")
    assert worker.call("GET", f"/connectors/{name}/offsets")["offsets"] == [{"partition": partition, "offset": {"offset": 1}}]
    expect(page.locator("main table.grid")).to_contain_text('{"offset": 1}')  # the tab has been renewed
    area.fill("[")
    page.get_by_role("button", name="Review changes").click()
    expect(page.locator("#messages")).to_contain_text("not JSON")
    page.get_by_role("button", name="Reset …").click()
    expect(dialog.locator("del")).to_have_text('{"offset": 1}')
    look_at_dialog(page, "offsets-reset", shot)
    dialog.get_by_role("button", name="Reset 1 offset").click()
    expect(page.locator("#messages")).to_contain_text("reset successfully")
    expect(page.locator("main")).to_contain_text("No offsets are committed.")
    assert worker.call("GET", f"/connectors/{name}/offsets")["offsets"] == []


def test_everything_is_done_by_keyboard(
    open_page: Open, worker: EmbeddedWorker, connector: Connector, source: Cluster, orders: str
):
    from playwright.sync_api import expect

    name = connector(f"keys-{orders}", mirror(source, orders), "STOPPED")
    await_state(worker, name, "STOPPED")
    page = open_page("/ui")
    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("q=keys"))
    page.get_by_label(f"Select {name}").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Resume").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Resume")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Resume")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()  # what is behind it takes no focus
    await_state(worker, name, "RUNNING", "RUNNING")
    page.get_by_role("link", name=name).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui/connector"))


def test_the_newer_screens_are_worked_by_keyboard(open_page: Open, worker: EmbeddedWorker, failed: str):
    from playwright.sync_api import expect

    worker.call("PUT", "/headrace/streams/counts/one", APPLICATION)
    page = open_page("/ui")
    tab_to(page, "Streams")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui/streams"))
    expect(page.get_by_role("link", name="counts")).to_be_visible()
    tab_to(page, "counts")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("application=counts"))
    expect(page.get_by_role("heading", name="counts")).to_be_visible()
    expect(page.get_by_label("The topology of counts")).to_be_visible()
    tab_to(page, "As describe() prints it")
    page.keyboard.press("Enter")
    tab_to(page, "The topology")
    worker.call("PUT", "/headrace/streams/counts/one", APPLICATION)  # one that has not reported for 35 s is silent
    page.goto("/ui/graph?application=counts")
    tab_to(page, "application counts, running")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui/streams.*counts"))
    tab_to(page, "Audit")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/ui/audit"))
    tab_to(page, "Of this connector")
    page.keyboard.type(failed)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"connector={failed}"))
    page.goto(f"/ui/connector?name={failed}")
    for tab in ("Configuration", "Offsets", "History", "Log"):
        tab_to(page, tab)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(f"tab={tab.lower()}"))


_TAB = "/ui/connector?name={name}&tab="
SCREENS = {
    "connector": _TAB + "status", "configuration": _TAB + "configuration",
    "offsets": _TAB + "offsets", "log": _TAB + "log", "history": _TAB + "history",
    "audit": "/ui/audit", "graph": "/ui/graph?topic=copy.{orders}",
    "graph-application": "/ui/graph?application=counts", "edit": "/ui/edit?name={name}", "new": "/ui/new",
    "dead-letter-topics": "/ui/dead-letters", "workers": "/ui/workers",
    "streams": "/ui/streams", "streams-application": "/ui/streams?application=counts",
}  # fmt: skip


def test_every_screen_fits_can_be_read_and_names_its_controls(
    open_page: Open,
    worker: EmbeddedWorker,
    connector: Connector,
    source: Cluster,
    failed: str,
    orders: str,
    shot: Shot,
):
    worker.call("PUT", "/headrace/streams/counts/one", APPLICATION)
    copies, spare = (connector(f"{kind}-{orders}", mirror(source, orders)) for kind in ("copy", "spare"))
    for name in (copies, spare):
        await_state(worker, name, "RUNNING", "RUNNING")
        wait_until(lambda name=name: worker.call("GET", f"/connectors/{name}/topics")[name]["topics"], WAIT_S, "an active topic")
    page = open_page("/ui")
    for screen, path in SCREENS.items():
        write_one(source, orders)  # for the overview, while the others are looked at
        page.goto(path.format(name=failed, orders=orders))
        page.wait_for_load_state("networkidle")
        look_at(page, screen, shot)
    await_rates(worker, source, orders, copies)
    page = open_page(f"/ui?q={orders}")
    page.set_viewport_size({"width": WIDE, "height": 460})
    shot(page, "overview", whole=False)
    look_at(page, "overview", shot)


def test_a_worker_that_went_away_or_starts_is_said_and_it_goes_on_when_it_is_back(open_page: Open, failed: str):
    from playwright.sync_api import expect

    page = open_page("/ui")
    page.route("**/ui/rows*", lambda route: route.abort())
    expect(page.locator("#away")).to_be_visible()
    expect(page.locator("table.overview")).to_contain_text(failed)
    page.unroute("**/ui/rows*")
    expect(page.locator("#away")).to_be_hidden()
    page.route("**/ui/rows*", lambda route: route.fulfill(body="<p>The worker is starting</p>"))
    expect(page.locator("#rows")).to_have_text("The worker is starting")
    page.unroute("**/ui/rows*")
    expect(page.locator("table.overview")).to_contain_text(failed)
