from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headrace.kafka.admin import Admin
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster
from tests.deployed import Deployed


def test_a_connector_changes_the_settings_of_a_topic_before_it_is_created_or_refuses_it(
    worker: EmbeddedWorker, destination: Cluster, topic_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = topic_name("choosy")
    lines = tmp_path / "lines"
    lines.write_text("a\n")
    config = {
        "connector.class": "tests.topics.own_source.ChoosySource", "file": str(lines), "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1",
    }  # fmt: skip
    choosy = Deployed(worker, topic, config)
    choosy.create()
    choosy.await_topics(topic)
    admin = Admin({"bootstrap.servers": destination.bootstrap})
    described = admin.describe(topic)
    assert described
    assert len(described.partitions) == 3
    assert admin.topic_configs(topic, own_only=True) == {"retention.ms": "86400000"}

    choosy.put("stop")  # the task with the old configuration would take the second line as well
    choosy.await_states("STOPPED")
    choosy.configure({"topic": f"{topic}-other", "wish": "fail"})
    lines.write_text("a\nb\n")
    choosy.put("resume")
    assert "The source does not want this topic." in choosy.trace()
    assert admin.describe(f"{topic}-other") is None
    choosy.delete()
