"""Offsets that an administrator sets for the mirror connectors (KIP-875), in Kafka's words."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.connectors.mirror.checkpoint_connector import MirrorCheckpointConnector
from headrace.connectors.mirror.heartbeat import MirrorHeartbeatConnector
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.errors import ConnectError

WHERE = {"cluster": "A", "partition": 0, "topic": "t"}


def test_offsets_in_mirror_makers_form_are_agreed_to_and_anything_can_be_removed() -> None:
    assert MirrorSourceConnector.alter_offsets({}, [(WHERE, {"offset": 5}), ({"x": 1}, None)])
    assert MirrorCheckpointConnector.alter_offsets({}, [({"group": "g", "partition": 0, "topic": "t"}, {"offset": 0})])
    beat = {"sourceClusterAlias": "A", "targetClusterAlias": "B"}
    assert MirrorHeartbeatConnector.alter_offsets({}, [(beat, {"offset": 0})])


@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        ({"topic": "t"}, {"offset": 1}, "Source partition {topic=t} is missing the 'cluster' key, which is required"),
        (
            {**WHERE, "topic": 5},
            {"offset": 1},
            "Source partition {cluster=A, partition=0, topic=5} has an invalid value 5 for the 'topic' key, which "
            "must be a string",
        ),
        (
            {**WHERE, "partition": -1},
            {"offset": 1},
            "Source partition {cluster=A, partition=-1, topic=t} has an invalid value -1 for the 'partition' key, which "
            "cannot be negative",
        ),
        (
            {**WHERE, "partition": "0"},
            {"offset": 1},
            "Source partition {cluster=A, partition=0, topic=t} has an invalid value 0 for the 'partition' key, which "
            "must be an integer",
        ),
        (
            WHERE,
            {"position": 1},
            "Source offset {position=1} for source partition {cluster=A, partition=0, topic=t} is missing the 'offset' key, "
            "which is required",
        ),
        (
            WHERE,
            {"offset": -1},
            "Source offset {offset=-1} for source partition {cluster=A, partition=0, topic=t} has an invalid value -1 for the "
            "'offset' key, which cannot be negative",
        ),
    ],
)
def test_other_offsets_are_refused(partition: dict[str, object], offset: dict[str, object], text: str) -> None:
    with pytest.raises(ConnectError) as raised:
        MirrorSourceConnector.alter_offsets({}, [(partition, offset)])
    assert str(raised.value) == text


def test_offsets_that_mean_nothing_have_to_be_zero() -> None:
    where = {"group": "g", "partition": 0, "topic": "t"}
    with pytest.raises(ConnectError, match="invalid value 1 for the 'offset' key; the only accepted value is 0"):
        MirrorCheckpointConnector.alter_offsets({}, [(where, {"offset": 1})])
    with pytest.raises(ConnectError, match="invalid value 1 for the 'offset' key; the only accepted value is 0"):
        MirrorHeartbeatConnector.alter_offsets({}, [({"sourceClusterAlias": "A", "targetClusterAlias": "B"}, {"offset": 1})])


def test_a_source_partition_that_is_null_is_refused() -> None:
    nothing: Any = None
    with pytest.raises(ConnectError, match="Source partitions may not be null"):
        MirrorSourceConnector.alter_offsets({}, [(nothing, {"offset": 1})])
