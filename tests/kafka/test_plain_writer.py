"""A worker whose principal may do everything that it needs, but use transactional ids."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourcePatternType, ResourceType

from headrace.cluster.stores import WorkerStores, kafka_stores
from headrace.errors import ConnectError
from headrace.kafka.membership import GroupListener, GroupSettings, Membership
from headrace.runtime.distributed_config import DistributedConfig
from tests.kafka.conftest import Secured
from tests.process import worker_properties
from tests.support import wait_until

PARTITION, OFFSET = {"file": "a"}, {"position": 1}


@pytest.fixture
def config(secured: Secured, topic_name: Callable[[str], str]) -> DistributedConfig:
    """Of a worker that is alice, who may use the topics and the group of its name."""
    group = topic_name("plain")
    for kind in (ResourceType.TOPIC, ResourceType.GROUP):
        secured.allow(kind, group, AclOperation.ALL, pattern=ResourcePatternType.PREFIXED)
    return DistributedConfig(worker_properties(group, "http://localhost:0") | secured.props())


@pytest.fixture
def stores(config: DistributedConfig) -> Iterator[WorkerStores]:
    made = kafka_stores(config, "one")
    yield made
    made.stop()


def test_alone_it_writes_without_them_and_says_so(
    stores: WorkerStores, config: DistributedConfig, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "headrace.cluster.stores"):
        stores.start()
    told = next(record.getMessage() for record in caplog.records if record.name == "headrace.cluster.stores")
    assert told.startswith("worker.writes-without-transactions ")
    assert f"transactional ids 'connect-cluster-{config.group_id}' and 'headrace-{config.group_id}-*'" in told
    stores.offsets.put("c", [(PARTITION, OFFSET)], lambda: b"a member")
    assert stores.offsets.get("c", [PARTITION]) == [(PARTITION, OFFSET)]
    stores.config.claim_write_privileges()
    stores.config.put_connector("c", {"name": "c"})
    assert stores.config.snapshot().connectors["c"] == {"name": "c"}


def test_with_others_in_its_group_it_does_not_start(secured: Secured, stores: WorkerStores, config: DistributedConfig) -> None:
    for prepare in (stores.prepare or {}).values():
        prepare()
    listener = GroupListener(lambda _place: None, lambda _place: None, lambda _error: None)
    settings = GroupSettings(config.group_id, config.offset_topic, "two", 60_000, 500, 60_000)
    other = Membership({"bootstrap.servers": secured.broker.bootstrap}, settings, listener)
    other.join(1)
    wait_until(other.group_metadata, 120, "the other is a member")
    with pytest.raises(ConnectError, match=r"may not write in transactions: .* has 1 other member: headrace-two\.$"):
        stores.start()
    other.leave()
