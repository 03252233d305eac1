"""Options, binary formats, policies and offset translation equal those of MirrorMaker's own classes (tests/golden/mirror)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from headrace.config import to_text
from headrace.connect_config.common import SourceConnectorConfig
from headrace.connectors.mirror.checkpoint_config import MirrorCheckpointConfig
from headrace.connectors.mirror.formats import Checkpoint, FormatError, Heartbeat, OffsetSync
from headrace.connectors.mirror.heartbeat_config import MirrorHeartbeatConfig
from headrace.connectors.mirror.policies import policy
from headrace.connectors.mirror.source_config import MirrorSourceConfig
from headrace.connectors.mirror.translation import Translations
from tests.golden.mirror.record import GOLDEN

FOUND: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
CONFIGS = {
    "MirrorSourceConnector": MirrorSourceConfig,
    "MirrorCheckpointConnector": MirrorCheckpointConfig,
    "MirrorHeartbeatConnector": MirrorHeartbeatConfig,
}
# Settings of metrics and clients of a JVM; those of clients count under their prefixes, as in MirrorMaker.
ELSEWHERE = {"metric.reporters", "metric.names.formats", "security.protocol", "config.providers"}


@pytest.mark.parametrize("connector", CONFIGS)
def test_every_option_has_mirror_makers_name_type_default_and_importance(connector: str) -> None:
    ours = CONFIGS[connector].definition().options
    common = {*SourceConnectorConfig.definition().options, *ELSEWHERE}
    for theirs in FOUND["options"][connector]:
        if theirs["name"] in common or theirs["name"].startswith(("ssl.", "sasl.")):
            continue
        option = ours[theirs["name"]]
        default = None if option.required else to_text(option.default, option.type)
        assert (option.type, option.required, default, option.importance) == (
            theirs["type"], theirs["required"], theirs["default"], theirs["importance"],
        ), theirs["name"]  # fmt: skip


def bytes_of(entry: dict[str, str]) -> tuple[bytes, bytes]:
    return base64.b64decode(entry["key"]), base64.b64decode(entry["value"])


def test_offset_syncs_have_mirror_makers_bytes() -> None:
    for entry in FOUND["formats"]["offset syncs"]:
        sync = OffsetSync("töpic", 7, entry["upstream"], entry["downstream"])
        assert (sync.key(), sync.value()) == bytes_of(entry)
        assert OffsetSync.read(*bytes_of(entry)) == sync


def test_checkpoints_and_heartbeats_have_mirror_makers_bytes() -> None:
    for name, ours in (
        ("checkpoint", Checkpoint("grüppe", "A.orders", 3, 12, 7, "méta")),
        ("heartbeat", Heartbeat("A", "Bß", 1700000000123)),
    ):
        assert (ours.key(), ours.value()) == bytes_of(FOUND["formats"][name])
        assert type(ours).read(*bytes_of(FOUND["formats"][name])) == ours


@pytest.mark.parametrize("value", [b"", b"\x00\x01" + bytes(16), b"\x00\x00", None])
def test_a_record_of_another_format_is_told(value: bytes | None) -> None:
    with pytest.raises(FormatError):
        Heartbeat.read(b"\x00\x01A\x00\x01B", value)


@pytest.mark.parametrize("name", FOUND["policies"])
def test_policies_name_topics_as_mirror_makers_do(name: str) -> None:
    config, class_name = name.rsplit(" ", 1)
    separator, internal = {"default": (".", True), "underscores": ("__", True), "plain internal": ("_", False)}[config]
    ours, theirs = policy(class_name, "A", separator, internal, {}), FOUND["policies"][name]
    assert ours.offset_syncs_topic("B") == theirs.pop("offset syncs")
    assert ours.checkpoints_topic("A") == theirs.pop("checkpoints")
    for key, answers in theirs.items():
        topic = key.removeprefix("topic ")
        assert {
            "remote": ours.remote("A", topic), "source": ours.source(topic), "upstream": ours.upstream(topic),
            "heartbeats": ours.is_heartbeats(topic), "internal": ours.is_internal(topic), "original": ours.original(topic),
        } == answers, topic  # fmt: skip


@pytest.mark.parametrize("number", range(len(FOUND["translations"])))
def test_offsets_translate_as_in_mirror_makers_store_after_every_sync(number: int) -> None:
    case = FOUND["translations"][number]
    ours = Translations(only_newest=case["to end"])
    for step, each in enumerate(case["steps"]):
        if step == case["before"]:
            ours.ready()
        ours.add(OffsetSync("t", 0, each["upstream"], each["downstream"]))
        found = {offset: ours.translate(("t", 0), int(offset)) for offset in each["translated"]}
        assert found == each["translated"], step
