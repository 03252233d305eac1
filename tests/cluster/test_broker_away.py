"""What the stores do while their broker is away: for all of them it is away once, since its end and its start take seconds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.background import in_background
from headrace.cluster import config_store
from headrace.cluster.config_store import ConfigStore
from headrace.cluster.offset_store import KafkaOffsetStore
from headrace.cluster.status_records import Status
from headrace.cluster.status_store import StatusStore
from headrace.embedded import Broker
from headrace.errors import ConnectError, RetriableError
from tests.cluster.conftest import Logs


def status(state: str) -> Status:
    return Status(state=state, trace=None, worker_id="w1", generation=1, version="1")


def test_while_the_broker_is_away_configs_and_offsets_are_refused_and_states_arrive_in_the_end(
    logs: Callable[[int], Logs], source_broker: Broker, monkeypatch: pytest.MonkeyPatch
):
    topics = [logs(1), logs(1), logs(5)]
    configs = topics[0].open(ConfigStore(topics[0].factory))
    states = topics[1].open(StatusStore(topics[1].factory))
    offsets = topics[2].open(KafkaOffsetStore(topics[2].factory))
    states.put_connector_status("c", status("RUNNING"))
    offsets.put("c", [({"p": 1}, {"o": 1})])
    monkeypatch.setattr(config_store, "TIMEOUT_S", 1.0)
    source_broker.kill()
    try:
        states.put_connector_status("c", status("FAILED"))
        states.put_task_status("c", 0, status("FAILED"))
        patient = in_background(lambda: offsets.put("patient", [({"p": 1}, {"o": 1})], timeout_s=180), "patient")
        with pytest.raises(ConnectError) as raised:
            configs.put_connector("c", {})
        assert str(raised.value) == "Error writing connector configuration to Kafka"
        with pytest.raises(RetriableError, match="Failed to store the source offsets of connector c: "):
            offsets.put("c", [({"p": 1}, {"o": 2})], timeout_s=1)
        with pytest.raises(RetriableError):
            offsets.get("c", [{"p": 1}], timeout_s=1)
        assert not patient.done(), "each of these has ended in its own time"
    finally:
        source_broker.start()
    patient.result(180)
    monkeypatch.setattr(config_store, "TIMEOUT_S", 60.0)
    configs.put_connector("d", {})
    assert "d" in configs.snapshot().connectors
    assert states.flush(60)
    states.refresh(60)
    assert (states.connector("c")["state"], states.tasks("c")[0]["state"]) == ("FAILED", "FAILED")
    offsets.put("c", [({"p": 1}, {"o": 3})], timeout_s=60)
    assert offsets.get("c", [{"p": 1}], timeout_s=60) == [({"p": 1}, {"o": 3})]
