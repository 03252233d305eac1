"""ACLs are read and written on a broker that has an authorizer."""

from __future__ import annotations

import pytest

from headrace.connectors.mirror.acls import Acl, acls_to_copy
from headrace.connectors.mirror.admin import MirrorAdmin
from headrace.embedded import Broker
from tests.support import wait_until

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.mark.slow
def test_acls_of_a_topic_become_those_of_its_copy_and_give_nobody_the_right_to_write() -> None:
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


def test_a_cluster_without_authorizer_has_no_acls(source_broker: Broker) -> None:
    assert MirrorAdmin({"bootstrap.servers": source_broker.bootstrap}).topic_acls() == []
