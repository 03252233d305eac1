"""A cluster with two listeners: PLAINTEXT for its administrator, SASL_PLAINTEXT for alice, who may do next to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from headrace.embedded import Broker
from headrace.embedded.ports import free_port
from tests.support import wait_until

_ANYTHING: Any = None
_ALICE = AclBindingFilter(
    ResourceType.ANY, _ANYTHING, ResourcePatternType.ANY, "User:alice", _ANYTHING, AclOperation.ANY, AclPermissionType.ANY
)


@dataclass(frozen=True)
class Secured:
    broker: Broker
    sasl_bootstrap: str

    def props(self, password: str = "wonder land") -> dict[str, str]:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return {
            "bootstrap.servers": self.sasl_bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{module} required username="alice" password="{password}";',
        }

    def allow(
        self,
        kind: ResourceType,
        name: str,
        *operations: AclOperation,
        pattern: ResourcePatternType = ResourcePatternType.LITERAL,
    ) -> None:
        """Let alice do this, and wait until the broker has it from the controller, which answers before."""
        client, permission = AdminClient({"bootstrap.servers": self.broker.bootstrap}), AclPermissionType.ALLOW
        bindings = {AclBinding(kind, name, pattern, "User:alice", "*", operation, permission) for operation in operations}
        for future in client.create_acls([*bindings]).values():
            future.result(180)
        wait_until(lambda: bindings <= {*client.describe_acls(_ALICE).result(180)}, 120, f"alice may use {name}")


@pytest.fixture(scope="package")
def secured() -> Iterator[Secured]:
    plain, sasl, controller = free_port(), free_port(), free_port()
    listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}"
    settings = {
        "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="wonder land";'
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with Broker(port=plain, settings=settings, name="secured") as broker:
        yield Secured(broker, f"127.0.0.1:{sasl}")
