from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from headrace.cluster.stores import WorkerStores, kafka_stores
from headrace.errors import ConfigError, ConnectError, RetriableError
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.group_transactions import GroupMetadata
from headrace.kafka.log import CompactedLog, LogRecord
from headrace.kafka.membership import GroupListener, GroupSettings, Membership
from headrace.runtime.distributed_config import DistributedConfig
from tests.process import worker_properties


@pytest.fixture
def props(source_broker, topic_name) -> dict[str, str]:
    return worker_properties(topic_name("connect"), "http://localhost:0") | {"bootstrap.servers": source_broker.bootstrap}


@pytest.fixture
def member(open_stores) -> Iterator[Callable[[dict[str, str]], GroupMetadata]]:
    """What gives the metadata of a member of the worker group, which is one until the test has ended."""
    joined: list[Membership] = []

    def join(props: dict[str, str]) -> GroupMetadata:
        placed = threading.Event()
        settings = GroupSettings(props["group.id"], props["offset.storage.topic"], "w:1", 60_000, 1000, 60_000)
        listener = GroupListener(lambda _place: placed.set(), lambda _place: None, lambda _error: None)
        joined.append(Membership(props, settings, listener))
        joined[-1].join(1)
        assert placed.wait(120)
        return joined[-1].session()

    yield join
    for one in joined:
        one.leave()


@pytest.fixture
def open_stores() -> Iterator[Callable[[dict[str, str]], WorkerStores]]:
    opened: list[WorkerStores] = []

    def make(props: dict[str, str]) -> WorkerStores:
        made = kafka_stores(DistributedConfig(props), "w:1")
        opened.append(made)
        made.start()
        return made

    yield make
    for made in opened:
        made.stop()


def test_the_three_topics_are_made_as_connect_makes_them(props, open_stores):
    given = {name: value for name, value in props.items() if name != "status.storage.partitions"}
    open_stores({**given, "status.storage.max.message.bytes": "2000000", "offset.storage.partitions": "3"})
    admin = Admin(props)
    found = {}
    for name in ("config", "offset", "status"):
        info = admin.describe(props[f"{name}.storage.topic"])
        assert info is not None
        found[name] = (len(info.partitions), admin.topic_configs(info.name, own_only=True))
    assert found == {
        "config": (1, {"cleanup.policy": "compact"}),
        "offset": (3, {"cleanup.policy": "compact"}),
        "status": (5, {"cleanup.policy": "compact", "max.message.bytes": "2000000"}),
    }


def test_a_worker_that_starts_again_finds_everything(props, open_stores, member):
    first = open_stores(props)
    first.config.claim_write_privileges()
    first.config.put_connector("c", {"name": "c"})
    first.offsets.put("c", [({"p": 1}, {"o": 1})], member(props))
    first.status.put_topic("c", "t", 0, 1)
    first.status.put_connector_status(
        "c", {"state": "RUNNING", "trace": None, "worker_id": "w", "generation": 3, "version": None}
    )
    assert first.status.flush()
    first.stop()
    second = open_stores(props)
    assert second.config.snapshot().connectors == {"c": {"name": "c"}}
    assert second.offsets.all("c") == [({"p": 1}, {"o": 1})]
    assert (second.status.topics("c"), second.status.latest_generation()) == ({"t"}, 3)


def test_offsets_in_an_own_topic_are_written_with_the_connectors_login_if_it_has_another(props, open_stores):
    policy = "connector.client.config.override."
    stores = open_stores({**props, f"{policy}policy": "Allowlist", f"{policy}allowlist": "sasl.mechanism"}).own_offsets
    own = {"name": "c", "offsets.storage.topic": props["group.id"] + "-own"}
    with pytest.raises(KafkaFailure):  # written by the worker, which is no member of the group
        stores.of(own).put("c", [({"p": 1}, {"o": 1})])
    other_login = stores.of({**own, "producer.override.sasl.mechanism": "PLAIN"})  # a broker without logins does not look at it
    other_login.put("c", [({"p": 1}, {"o": 2})])
    assert other_login.all("c") == [({"p": 1}, {"o": 2})]
    refused = {"consumer.override.fetch.min.bytes": "2"}  # without a topic of its own, there is no such client
    assert stores.of({"name": "c", **refused}).topic == props["offset.storage.topic"]
    with pytest.raises(ConnectError, match="Client Config Overrides not allowed"):
        stores.of({**own, **refused})


def test_the_leader_writes_the_config_topic_in_transactions(props, open_stores):
    stores = open_stores(props)
    stores.config.claim_write_privileges()
    stores.config.put_connector("c", {"name": "c"})
    stores.config.put_connector("c", {"name": "c", "n": "2"})
    assert stores.config.snapshot().connectors == {"c": {"name": "c", "n": "2"}}
    seen: list[LogRecord] = []
    log = CompactedLog(props["config.storage.topic"], props, props, seen.append)
    log.start()
    log.stop()
    assert [record.offset for record in seen] == [0, 2]  # each transaction ends with a marker


def test_a_transaction_that_a_former_process_left_open_does_not_delay_the_start(props, open_stores):
    open_stores(props).stop()
    settings = {"transactional.id": f"headrace-{props['group.id']}-w:1", "transaction.timeout.ms": 900_000}
    former = Producer({"bootstrap.servers": props["bootstrap.servers"], **settings})  # longer than any start waits
    former.init_transactions(120)
    former.begin_transaction()
    former.produce(props["offset.storage.topic"], b'{"o":1}', b'["c",{"file":"a"}]', partition=3)
    former.flush(120)
    assert open_stores(props).offsets.all("c") == []


def test_a_topic_that_deletes_is_refused(props, open_stores):
    Admin(props).create(props["status.storage.topic"], 5, 1, {"cleanup.policy": "delete"})
    with pytest.raises(ConfigError, match=r"'status.storage.topic' property .* durability of connector and task statuses"):
        open_stores(props)


def test_a_config_topic_with_two_partitions_is_refused(props, open_stores):
    Admin(props).create(props["config.storage.topic"], 2, 1, {"cleanup.policy": "compact"})
    with pytest.raises(ConfigError, match="required to have a single partition"):
        open_stores(props)


def test_a_replication_factor_that_cannot_be_had_ends_the_start(props, open_stores):
    with pytest.raises(RetriableError, match=r"Timeout expired while trying to create topic\(s\)"):
        open_stores({**props, "status.storage.replication.factor": "3", "default.api.timeout.ms": "5000"})
