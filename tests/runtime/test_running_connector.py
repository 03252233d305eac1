"""How many tasks a connector may have (KIP-1004)."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.cluster.standalone.group import StandaloneGroup
from headrace.connect_config.common import SourceConnectorConfig
from headrace.errors import TooManyTasksError
from headrace.runtime.running_connector import check_tasks_max
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import TaskNumber, Worker

CONFIG = {"name": "c", "connector.class": "FileStreamSource", "topic": "t", "tasks.max": "3"}
SENTENCE = "The connector c has generated 5 tasks, which is greater than 3, the maximum number"


def test_stored_tasks_over_the_limit_do_not_start() -> None:
    converters = {f"{part}.converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}
    settings = StandaloneConfig({"bootstrap.servers": "here:9092", **converters, "offset.storage.file.filename": "o"})
    events: Any = None
    worker = Worker(settings, events, events, events, StandaloneGroup().session)
    with pytest.raises(TooManyTasksError, match=SENTENCE):
        worker.start_task(TaskNumber("c", 0, tasks=5), CONFIG, CONFIG, events)


def test_the_limit_may_be_a_warning() -> None:
    check_tasks_max(SourceConnectorConfig({**CONFIG, "tasks.max.enforce": "false"}), 5)
    check_tasks_max(SourceConnectorConfig(CONFIG), 3)
    with pytest.raises(TooManyTasksError, match=SENTENCE):
        check_tasks_max(SourceConnectorConfig(CONFIG), 5)
