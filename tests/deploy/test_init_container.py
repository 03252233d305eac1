"""The init container of deploy/kubernetes/streams on a real cluster (KIP-698)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from headrace.embedded import Broker
from headrace.kafka.admin import Admin
from tests.deploy.test_files import DEPLOY

STREAMS = DEPLOY / "kubernetes/streams"


def _run(app: Path) -> subprocess.CompletedProcess[str]:
    """The container's command, with the application in this directory instead of /app."""
    (container,) = yaml.safe_load((STREAMS / "deployment.yaml").read_text())["spec"]["template"]["spec"]["initContainers"]
    command = [word.replace("/app/", f"{app}/") for word in container["command"]]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_first_pod_creates_the_topics_and_later_ones_find_them_or_fail(
    tmp_path: Path, topic_name: Callable[[str], str], destination_broker: Broker
) -> None:
    words, name, admin = topic_name("words"), topic_name("app"), Admin({"bootstrap.servers": destination_broker.bootstrap})
    (tmp_path / "words.py").write_text((STREAMS / "words.py").read_text().replace('stream("words"', f'stream("{words}"'))
    settings = (STREAMS / "words.properties").read_text().replace("kafka:9092", destination_broker.bootstrap)
    (tmp_path / "words.properties").write_text(settings.replace("application.id=words", f"application.id={name}"))

    def internal() -> list[str]:
        return sorted(topic for topic in admin.topics() if topic.startswith(f"{name}-"))

    failed = _run(tmp_path)
    assert failed.returncode != 0
    assert words in failed.stderr
    admin.create(words, 2, 1)
    topics = [f"{name}-counts-changelog", f"{name}-counts-repartition"]
    first, second = _run(tmp_path), _run(tmp_path)
    assert (first.returncode, second.returncode, internal()) == (0, 0, topics), first.stderr + second.stderr
    assert "has been created" in first.stdout
    assert "has been created" not in second.stdout
    admin.delete(topics[:1])
    third = _run(tmp_path)
    assert third.returncode != 0
    assert "Some but not all" in third.stderr
    assert internal() == topics[1:]
