"""ACLs are read and written on a broker that has an authorizer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.connectors.base import ConnectorContext
from headrace.connectors.mirror.acls import Acl, acls_to_copy
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.connectors.mirror.source_connector import MirrorSourceConnector
from headrace.embedded import Broker
from tests.support import captured_logs, wait_until

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.mark.slow
def test_acls_of_a_topic_become_those_of_its_copy_and_give_nobody_the_right_to_write(source_broker: Broker) -> None:
    with Broker(name="acls", settings=AUTHORIZER) as broker:
        admin = MirrorAdmin({"bootstrap.servers": broker.bootstrap})
        admin.create_acls([Acl("t", "User:a", "*", operation, "ALLOW") for operation in ("READ", "WRITE")])
        admin.create_acls([Acl("t", "User:b", "*", "ALL", "ALLOW")])
        wait_until(lambda: len(admin.topic_acls()) == 3, 120, "three ACLs")
        wanted = acls_to_copy(admin.topic_acls(), lambda _topic: True, lambda topic: f"A.{topic}")
        admin.create_acls(wanted)
        admin.create_acls(wanted)

        def copies() -> set[Acl]:
            return {acl for acl in admin.topic_acls() if acl.topic == "A.t"}

        expected = {Acl("A.t", f"User:{name}", "*", "READ", "ALLOW") for name in ("a", "b")}
        wait_until(lambda: copies() == expected, 120, "the ACLs of the copy")
        admin.create_acls([Acl("*", "User:c", "*", "READ", "DENY")])
        connector = MirrorSourceConnector(ConnectorContext("mirror", lambda: None, lambda _: None))
        cluster = {f"{side}.cluster.bootstrap.servers": broker.bootstrap for side in ("source", "target")}
        props = {
            **cluster, "name": "mirror", "source.cluster.alias": "C", "target.cluster.alias": "D", "topics": "[*]|t",
            "replication.factor": "1", "offset-syncs.topic.replication.factor": "1",
        }  # fmt: skip
        connector.start(props)
        by_name = {*(replace(acl, topic="C.t") for acl in expected), Acl("C.*", "User:c", "*", "READ", "DENY")}
        synced = lambda: {acl for acl in admin.topic_acls() if acl.topic.startswith("C.")}  # noqa: E731
        wait_until(lambda: synced() == by_name, 120, "ACLs of a topic that does not exist, and of all topics")
        connector.stop()
        said = {"source": "mirror.acls.missing", "target": "Could not sync ACLs of topics."}
        for side, event in said.items():  # of a broker without an authorizer
            with captured_logs() as logs:
                other = MirrorSourceConnector(ConnectorContext("mirror", lambda: None, lambda _: None))
                other.start({**props, f"{side}.cluster.bootstrap.servers": source_broker.bootstrap})
                wait_until(lambda event=event, logs=logs: event in [line["event"] for line in logs], 120, event)
                other.stop()


def test_a_cluster_without_authorizer_has_no_acls(source_broker: Broker) -> None:
    assert MirrorAdmin({"bootstrap.servers": source_broker.bootstrap}).topic_acls() == []
