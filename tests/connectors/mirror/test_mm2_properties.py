"""An mm2.properties file means what it means to MirrorMaker (tests/golden/mirror)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headrace.config import load_properties
from headrace.connectors.mirror import mm2_properties
from headrace.errors import ConfigError
from tests.golden.mirror.record import GOLDEN, HERE

FOUND: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))["maker"]
PROPS = load_properties(HERE / "mm2.properties")


def test_the_flows_are_mirror_makers() -> None:
    assert {str(flow) for flow in mm2_properties.flows(PROPS)} == set(FOUND)


def test_a_cluster_that_is_named_twice_is_one() -> None:
    flows = mm2_properties.flows({"clusters": "A, B, A", "A->B.enabled": "true"})
    assert [str(flow) for flow in flows] == ["A->B", "B->A"]


@pytest.mark.parametrize("flow", mm2_properties.flows(PROPS), ids=str)
def test_every_flow_has_mirror_makers_configurations(flow: mm2_properties.ReplicationFlow) -> None:
    theirs = FOUND[str(flow)]
    assert mm2_properties.worker(PROPS, flow) == theirs["worker"]
    for name in mm2_properties.CONNECTORS:
        assert mm2_properties.connector(PROPS, flow, name) == theirs[name], name


@pytest.mark.parametrize(
    ("props", "text"),
    [
        ({}, 'Missing required configuration "clusters" which has no default value.'),
        ({"clusters": "A"}, "No source->target replication flows"),
        ({"clusters": "A,B", "emit.heartbeats.enabled": "false"}, "set <source>-><target>.enabled=true"),
    ],
)
def test_a_file_without_flows_is_told(props: dict[str, str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        mm2_properties.flows(props)
