"""What fails in one connector among many: it says so in a sentence, and the others do not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headrace.connectors.kafka_source.monitor import TIMEOUT
from headrace.connectors.mirror.acls import Acl
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import Cluster, Sent, record
from tests.deployed import CONNECTOR_S
from tests.kafka_source.mirror import Mirror
from tests.process import worker_properties
from tests.support import seeds, wait_until

pytestmark = pytest.mark.slow

AT_ONCE = 4
"""How many connectors are made, or come to their faults, at once: for most of that time they wait."""
HEALTHY = seeds(12, 89)[-1]
"""Connectors beside the eleven with a fault; a hundred in all with HEADRACE_TESTS=all."""
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
JSON = {
    "source.value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}
NO_SCHEMAS = {"source.value.converter.schemas.enable": "false", "value.converter.schemas.enable": "false"}
CAST = {
    "transforms": "cast",
    "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms.cast.spec": "n:int32",
}

SLOW_MACHINE = "transaction.abandoned", TIMEOUT
"""Events of a connector that has waited for its own clients, not of a fault of another connector."""

Events = list[MutableMapping[str, Any]]
Check = Callable[[Events], None]
"""Waits for what a fault comes to."""


class World(NamedTuple):
    """A worker on the cluster `target`, which copies from the two others; `distant` has its topics on two disks."""

    worker: EmbeddedWorker
    source: Cluster
    distant: Cluster
    target: Cluster
    distant_broker: Broker

    def mirror(self, topic: str, config: dict[str, str] | None = None, source: Cluster | None = None) -> Mirror:
        """A connector for one topic, and named after it."""
        mirror = Mirror(self.worker, (source or self.source, self.target), f"mirror-{topic}", topic, config or {})
        mirror.create()
        return mirror

    def filled(self, topic: str, records: Iterable[Sent], config: dict[str, str] | None = None) -> Mirror:
        """The same, of a new topic with these records."""
        self.source.create(topic)
        self.source.produce(topic, records)
        return self.mirror(topic, config)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    disks = tmp_path_factory.mktemp("disks")
    two_disks = {"log.dirs": f"{disks / 'one'},{disks / 'two'}", "metadata.log.dir": str(disks / "metadata")}
    props = worker_properties("faults", f"http://127.0.0.1:{free_port()}")
    with ExitStack() as stack:
        settings = {"source": AUTHORIZER, "distant": two_disks, "target": AUTHORIZER}
        brokers = {name: stack.enter_context(Broker(name=name, settings=settings[name])) for name in settings}
        worker = stack.enter_context(EmbeddedWorker(brokers["target"].bootstrap, props))
        clusters = {name: Cluster(broker.bootstrap) for name, broker in brokers.items()}
        yield World(worker, **clusters, distant_broker=brokers["distant"])


def values(count: int, first: int = 0, partition: int = 0) -> list[Sent]:
    return [record(b"k", b"%d" % n, partition=partition) for n in range(first, first + count)]


def deny(cluster: Cluster, topic: str, operation: str) -> None:
    """Have nobody do this with the topic, which everybody sees, and wait until the broker has it from the controller."""
    acls = [Acl(topic, "User:ANONYMOUS", "*", "DESCRIBE", "ALLOW"), Acl(topic, "User:ANONYMOUS", "*", operation, "DENY")]
    admin = MirrorAdmin({"bootstrap.servers": cluster.bootstrap})
    admin.create_acls(acls)
    wait_until(lambda: {*acls} <= {*admin.topic_acls()}, CONNECTOR_S, lambda: f"{acls}, not {admin.topic_acls()}")


def failed(mirror: Mirror, *sentences: str) -> Check:
    def check(_events: Events) -> None:
        trace = mirror.trace()
        assert [sentence for sentence in sentences if sentence not in trace] == []
        assert mirror.states() == ["RUNNING", "FAILED"]

    return check


def warned(mirror: Mirror, event: str, **fields: object) -> Check:
    """The connector runs, and one warning has been logged."""

    def found(events: Events) -> Events:
        own = [e for e in events if e.get("connector") == mirror.name and e["log_level"] == "warning" and e["event"] == event]
        return [e for e in own if fields.items() <= e.items()]

    def check(events: Events) -> None:
        wait_until(lambda: found(events), CONNECTOR_S, lambda: f"{event} of {mirror.name}")
        assert len(found(events)) == 1
        assert mirror.states()[0] == "RUNNING"

    return check


def unauthorized_source(world: World) -> Check:
    world.source.create("unreadable")
    deny(world.source, "unreadable", "READ")
    sentence = "Records could not be copied (topic=unreadable, partition=0): Not authorized to access topics: [unreadable]"
    return failed(world.mirror("unreadable"), sentence)


def unauthorized_target(world: World) -> Check:
    target = "mirror-unwritable.unwritable"
    world.target.create(target)
    deny(world.target, target, "WRITE")
    mirror = world.filled("unwritable", values(5))
    return failed(
        mirror, f"a record of {target} (topic=unwritable, partition=0, offset=0): Not authorized to access topics: [{target}]"
    )


def offset_out_of_range(world: World) -> Check:
    mirror = world.filled("expired", values(5))
    mirror.await_copied("expired", 5)
    mirror.await_stored({"expired:0": 4})
    mirror.put("stop")
    mirror.await_states("STOPPED")
    world.source.produce("expired", values(10, 5))
    world.source.delete_before("expired", 12)
    mirror.put("resume")
    return failed(mirror, "The source cluster has lost records of expired-0: offsets 5 to 11, which were deleted")


def record_too_large(world: World) -> Check:
    config = {"topic.creation.default.max.message.bytes": "50000"}
    mirror = world.filled("large", [*values(3), record(b"k", bytes(60_000))], config)
    return failed(
        mirror, "The record at topic=large, partition=0, offset=3 has 60001 bytes", "Raise max.message.bytes of the topic"
    )


def batch_size_above_the_limit(world: World) -> Check:
    config = {"topic.creation.default.max.message.bytes": "2000", "producer.override.batch.size": "1000000"}
    records = [record(None, b"%04d" % number * 25) for number in range(3000)]
    mirror = world.filled("batches", records, config)
    return lambda _events: equal(mirror.await_copied("batches", 3000), records)


def target_deleted(world: World) -> Check:
    mirror = world.filled("rewritten", values(5))
    mirror.await_copied("rewritten", 5)
    target = mirror.prefix + "rewritten"
    world.target.admin.delete([target])
    wait_until(lambda: world.target.admin.describe(target) is None, CONNECTOR_S, "the target is gone")
    world.source.produce("rewritten", values(5, 5))
    sentence = f"Topic '{target}' was deleted while it is written to. It is created again, without what was in it"
    return warned(mirror, sentence)


def source_deleted(world: World) -> Check:
    mirror = world.filled("vanishing", values(5))
    mirror.await_copied("vanishing", 5)
    world.source.admin.delete(["vanishing"])
    return lambda _events: equal(mirror.await_states("RUNNING")["tasks"], [])


def chain_that_throws(world: World) -> Check:
    records = [record(None, b'{"n": "%s"}' % n) for n in (b"1", b"2", b"x", b"4")]
    mirror = world.filled("thrown", records, {**JSON, **NO_SCHEMAS, **CAST})
    return failed(mirror, "topic=thrown, partition=0, offset=2, at transform 'cast'", "Value (x) was out of range")


def schema_that_always_changes(world: World) -> Check:
    schema = b'{"schema":{"type":"struct","fields":[{"field":"f%d","type":"int32"}]},"payload":{"f%d":%d}}'
    mirror = world.filled("schemas", [record(None, schema % (n, n, n)) for n in range(20)], JSON)
    return lambda _events: equal(len(mirror.await_copied("schemas", 20)), 20)


def leaderless_partition(world: World) -> Check:
    """The disk of one of two partitions fails when its next segment is begun."""
    topic = "leaderless"
    world.distant.create(topic, 2, {"segment.bytes": str(1 << 20)})
    world.distant.produce(topic, [*values(5), *values(5, partition=1)])
    mirror = world.mirror(topic, source=world.distant)
    mirror.await_copied(topic, 10)
    disks = [Path(disk) for disk in world.distant_broker.settings["log.dirs"].split(",")]
    disk = next(disk for disk in disks if (disk / f"{topic}-1").exists())
    disk.rename(disk.with_name("gone"))  # at once: while it is deleted, the broker may write a checkpoint into it
    with pytest.raises(AssertionError):  # what does not fit into the segment is never acknowledged
        world.distant.produce(topic, [record(b"k", bytes(200_000), partition=1)] * 12, {"message.timeout.ms": 5000})

    def check(events: Events) -> None:
        warned(mirror, "source.partition.leaderless", topic=topic, partition=1)(events)
        mirror.restart("?includeTasks=true")
        later = values(5, 5)
        world.distant.produce(topic, later)
        read = lambda: {r.value for r in mirror.destination.read(mirror.prefix + topic)}  # noqa: E731
        wait_until(lambda: {r.value for r in later} <= read(), CONNECTOR_S, lambda: f"the other one is read; {mirror.status()}")

    return check


def cluster_away(world: World) -> Check:
    world.distant.create("distant")
    mirror = world.mirror("distant", source=world.distant)
    mirror.await_states("RUNNING", "RUNNING")

    def check(events: Events) -> None:
        world.distant_broker.kill()  # not before it has said which partition has no leader
        warned(mirror, "source.cluster.away")(events)

    return check


def leaderless_partition_and_cluster_away(world: World) -> Check:
    """One after the other: which disk a new topic gets depends on whether one has failed."""
    checks = [leaderless_partition(world), cluster_away(world)]

    def check(events: Events) -> None:
        for one in checks:
            one(events)

    return check


def equal(found: object, expected: object) -> None:
    assert found == expected


FAULTS = (
    leaderless_partition_and_cluster_away, target_deleted, source_deleted, offset_out_of_range, unauthorized_source,
    unauthorized_target, record_too_large, batch_size_above_the_limit, chain_that_throws, schema_that_always_changes,
)  # fmt: skip
"""Those that take long to come about are first."""


def test_a_fault_of_one_connector_is_one_sentence_and_the_others_do_not_notice(world: World, events: Events) -> None:
    topics = [f"healthy-{number}" for number in range(HEALTHY)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        healthy = dict(zip(topics, pool.map(lambda topic: world.filled(topic, values(5)), topics), strict=True))
        for topic, mirror in healthy.items():
            mirror.await_copied(topic, 5)
        for check in reversed(list(pool.map(lambda fault: fault(world), FAULTS))):
            check(events)
    for topic in topics:
        world.source.produce(topic, values(5, 5))
    for topic, mirror in healthy.items():
        assert mirror.await_copied(topic, 10) == values(10), "each once, so no task was restarted"
        assert [task["state"] for task in world.worker.call("GET", f"/headrace{mirror.path}/status")["tasks"]] == ["RUNNING"]
    names = {mirror.name for mirror in healthy.values()}
    said = [e for e in events if e.get("connector") in names and e["log_level"] in ("warning", "error")]
    assert [e for e in said if not e["event"].startswith(SLOW_MACHINE)] == []
