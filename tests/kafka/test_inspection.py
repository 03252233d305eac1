"""What alice, who may do next to nothing, is said to be allowed."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from headrace.doctor import clusters
from headrace.doctor.finding import Severity
from headrace.kafka.admin import Admin
from headrace.kafka.failures import KafkaFailure
from headrace.kafka.inspection import InspectingAdmin
from headrace.runtime.distributed_config import DistributedConfig
from tests.kafka.conftest import Secured
from tests.process import worker_properties
from tests.support import wait_until


@pytest.fixture
def alice(secured: Secured) -> InspectingAdmin:
    return InspectingAdmin(secured.props())


def test_a_topic_that_may_not_be_seen_is_none_and_may_not_be_created(alice: InspectingAdmin, secured: Secured) -> None:
    Admin({"bootstrap.servers": secured.broker.bootstrap}).create("hidden", 1, 1)
    assert alice.topic_operations("hidden") is None
    with pytest.raises(KafkaFailure) as refused:
        alice.check_creation("not-there", 1, 1, {})
    assert refused.value.code == "TOPIC_AUTHORIZATION_FAILED"


def test_what_is_missing_on_a_topic_is_one_line_with_the_commands(alice: InspectingAdmin, secured: Secured) -> None:
    Admin({"bootstrap.servers": secured.broker.bootstrap}).create("configs", 1, 1, {"cleanup.policy": "compact"})
    secured.allow(ResourceType.TOPIC, "configs", AclOperation.READ, AclOperation.DESCRIBE)
    assert alice.topic_operations("configs") == {"READ", "DESCRIBE"}
    topics = {f"{kind}.storage.topic": "configs" for kind in ("config", "offset", "status")}
    worker = DistributedConfig(worker_properties("workers", "http://localhost:0") | topics | {"bootstrap.servers": "k:9092"})
    lines = [f for f in clusters.internal_topics(alice, worker, 10) if f.check == "acl"]
    assert lines[0].status is Severity.WRONG
    assert lines[0].message == "the worker's principal lacks WRITE, DESCRIBE_CONFIGS on topic configs"
    assert lines[0].remedy == (
        "kafka-acls --bootstrap-server k:9092 --add --allow-principal User:NAME --operation Write --operation DescribeConfigs "
        "--topic configs"
    )


def test_a_group_that_may_not_be_joined_is_wrong(alice: InspectingAdmin, secured: Secured) -> None:
    assert clusters.group(alice, "workers", 2).status is Severity.WRONG  # it asks until its time is over
    secured.allow(ResourceType.GROUP, "workers", AclOperation.DESCRIBE)
    wait_until(lambda: "lacks READ" in clusters.group(alice, "workers", 10).message, 120, "alice may see the group, not join it")
    assert clusters.group(alice, "workers", 10).status is Severity.WRONG
    secured.allow(ResourceType.GROUP, "workers", AclOperation.READ)
    wait_until(lambda: clusters.group(alice, "workers", 10).status is Severity.OK, 120, "alice may join the group")


def test_a_wrong_password_is_a_line_about_the_login(secured: Secured) -> None:
    admin, finding = clusters.login(secured.props(password="wrong"), "bootstrap.servers", 10)
    assert admin is None
    assert "did not let this client in" in finding.message
