"""A record that a sink could not read is found, tried with a changed chain, and replayed once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, record
from tests.page.conftest import WAIT_S, reconfigure
from tests.page.looks import look_at, look_at_dialog, tab_to
from tests.support import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

DLQ = "errors.deadletterqueue."
JSON, STRING = "org.apache.kafka.connect.json.JsonConverter", "org.apache.kafka.connect.storage.StringConverter"


def committed(worker: EmbeddedWorker, sink: str) -> list[int]:
    return [one["offset"]["kafka_offset"] for one in worker.call("GET", f"/connectors/{sink}/offsets")["offsets"]]


def test_a_dead_letter_is_found_tried_with_a_changed_chain_and_replayed_once(
    open_page: Callable[..., Page], worker: EmbeddedWorker, connector: Callable[..., str], destination: Cluster,
    topic_name: Callable[[str], str], shot: Callable[[Page, str], None], tmp_path: Path,
):  # fmt: skip
    from playwright.sync_api import expect

    topic, letters, file = topic_name("orders"), topic_name("letters"), tmp_path / "out.txt"
    destination.create(topic)
    destination.produce(topic, [record(None, b'{"a":1}'), record(None, b"<b>not json</b>")])
    config = {
        "connector.class": "FileStreamSink", "topics": topic, "file": str(file), "errors.tolerance": "all",
        "value.converter": JSON, "value.converter.schemas.enable": "false", DLQ + "topic.name": letters,
        DLQ + "topic.replication.factor": "1", DLQ + "context.headers.enable": "true",
        "consumer.override.ssl.key.password": "s3cret",
    }  # fmt: skip
    name = connector(topic_name("sink"), config)
    wait_until(lambda: len(destination.read(letters)) == 1, WAIT_S, "a dead letter")
    wait_until(lambda: committed(worker, name) == [2], WAIT_S, "both records are done with")  # lag is asked for twice a minute

    page = open_page(f"/ui/connector?name={name}")
    lag = page.locator("section", has=page.get_by_role("heading", name="Lag by partition"))
    expect(lag.locator("tbody tr")).to_contain_text(re.compile(rf"{topic}\s*0\s*1\s*2\s*0"))  # delivered to, end, lag
    page.get_by_role("link", name="Offsets").click()
    expect(page.locator("main")).to_contain_text(f"consumer group connect-{name}")
    page.get_by_role("link", name="Its dead letters").click()
    why = page.locator("section.card", has_text="Reasons")
    expect(why).to_contain_text("value converter")
    expect(why).to_contain_text("JsonConverter")
    expect(page.locator(".letters summary")).to_have_text("<b>not json</b>")
    page.get_by_label("Select 0:0").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("failed")
    page.get_by_text("Preview with a changed chain").click()
    area = page.get_by_role("textbox", name="Configuration for the preview")
    assert "s3cret" not in page.content() and '"[hidden]"' in area.input_value()
    area.fill(area.input_value().replace(JSON, STRING))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("passed")
    shot(page, "dead-letters-preview")

    reconfigure(worker, name, config | {"value.converter": STRING})
    page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"to {topic}")
    expect(dialog).to_contain_text("where other consumers see them again")
    shot(page, "dead-letters-replay")
    look_at_dialog(page, "dead-letters-replay", shot)
    dialog.get_by_role("button", name="Replay 1").click()
    expect(page.locator("#messages")).to_contain_text("1 replayed.")
    expect(page.locator("tr.is-replayed")).to_contain_text(f"to {topic}")
    wait_until(lambda: "<b>not json</b>" in file.read_text(), WAIT_S, "the record in the file")
    page.get_by_role("button", name="Replay").click()
    expect(dialog).to_contain_text("It was replayed at")
    expect(dialog.get_by_role("button", name="Replay")).to_have_count(0)
    page.keyboard.press("Escape")
    page.goto(f"/ui/dead-letters?topic={letters}&connector={name}")
    tab_to(page, "Select 0:0")
    page.keyboard.press("Space")
    page.get_by_role("button", name="Replay").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("It was replayed at")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    page.locator(".letters summary").click()
    look_at(page, "dead-letters", shot)
