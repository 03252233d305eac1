"""Which ACLs of topics are copied, and as what (KIP-382). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Acl:
    """An ACL of a topic."""

    topic: str
    principal: str
    """`User:` and the name, as Kafka has it."""
    host: str
    operation: str
    """Kafka's name, as of `permission`: READ, ALLOW."""
    permission: str
    literal: bool = True
    """The name is one, not a prefix or a pattern."""


def acls_to_copy(acls: Iterable[Acl], accepts: Callable[[str], bool], rename: Callable[[str], str]) -> list[Acl]:
    """The ACLs for the target.

    Literal ones of accepted names; nobody may write to a copy because of them: ALLOW WRITE is left out, ALLOW ALL becomes READ.
    """
    bindings = []
    for acl in acls:
        if not acl.literal or not accepts(acl.topic) or (acl.permission, acl.operation) == ("ALLOW", "WRITE"):
            continue
        operation = "READ" if (acl.permission, acl.operation) == ("ALLOW", "ALL") else acl.operation
        bindings.append(replace(acl, topic=rename(acl.topic), operation=operation))
    return bindings
