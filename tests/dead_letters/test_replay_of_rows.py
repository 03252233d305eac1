"""Dead letters of a Spark data source, whose records are rows, on a worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import Deployed, deploying
from tests.support import wait_until

CREATION = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture
def connector(worker: EmbeddedWorker, topic_name: Callable[[str], str]) -> Iterator[Callable[..., Deployed]]:
    yield from deploying(worker, Deployed, lambda: topic_name("rows"), CREATION)


def test_a_row_that_failed_is_replayed_with_its_types(
    connector: Callable[..., Deployed], destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
):
    topic, letters = topic_name("rows"), topic_name("letters")
    (tmp_path / "in").mkdir()
    rows = [{"id": 1, "at": "2026-11-23T14:00:00.123456Z", "n": "7"}, {"id": 2, "at": "2026-11-23T14:00:00Z", "n": "seven"}]
    (tmp_path / "in" / "a.json").write_text("\n".join(map(json.dumps, rows)))
    source = connector(
        "headrace.connectors.SparkSourceConnector", format="json", option_path=str(tmp_path / "in"), topic=topic,
        schema="id bigint, at timestamp, n string", key_columns="id", file_settle_ms="0", poll_interval_ms="500",
        transforms="cast", transforms_cast_type="org.apache.kafka.connect.transforms.Cast$Value", transforms_cast_spec="n:int32",
        value_converter=JSON, value_converter_schemas_enable="false", key_converter=JSON, key_converter_schemas_enable="false",
        errors_tolerance="all", errors_deadletterqueue_topic_name=letters,
        errors_deadletterqueue_topic_replication_factor="1", errors_deadletterqueue_context_headers_enable="true",
    )  # fmt: skip
    wait_until(lambda: destination.size(letters) == 1, 180, "a dead letter")
    replay = f"/headrace/dead-letters/{letters}/replay"
    (still,) = source.worker.call("POST", replay, {"letters": ["0:0"], "dry_run": True})["letters"]
    assert (still["outcome"], "transform:cast" in still["message"]) == ("failed", True)
    source.configure({"transforms": ""})
    (done,) = source.worker.call("POST", replay, {"letters": ["0:0"]})["letters"]
    assert (done["outcome"], done["topic"]) == ("replayed", topic)
    copy = next(r for r in destination.read(topic, settled=True) if r.key == b"2")
    assert json.loads(copy.value or b"") == {"id": 2, "at": 1795442400000, "n": "seven"}
