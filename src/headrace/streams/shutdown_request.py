"""The request of an instance that every instance of its application shuts down (KIP-671, `SHUTDOWN_APPLICATION`).

Kafka Streams sends it with the group's protocol, in data that librdkafka does not let a member set. Here the active instance
commits it with the offset of the first partition of the topic that the group subscribes to, and then leaves: whoever is active
next reads it before it begins. It names the members of that moment, so an instance that is started later works.
"""

from __future__ import annotations

from headrace.errors import ShutdownRequestedError
from headrace.kafka.active_standby import ActiveStandbyMember, Partition
from headrace.streams.engine import offset_metadata


def partition_of_requests(member: ActiveStandbyMember) -> Partition:
    """The partition whose committed offset has the request."""
    return member.topic, 0


def request_shutdown(member: ActiveStandbyMember, members: list[str], reason: str, position: int | None) -> bool:
    """Request that members of the group shut down, as its active member; whether that was possible.

    members: their ids; position: the offset to commit if none is committed yet, None if it is not known. Raises KafkaFailure.
    """
    partition = partition_of_requests(member)
    offset, text = member.committed([partition]).get(partition, (position, ""))
    if offset is None:
        return False
    member.commit({partition: (offset, offset_metadata.with_shutdown(text, members, reason))}, member.generation)
    return True


def refuse_if_requested(member: ActiveStandbyMember) -> None:
    """Raise ShutdownRequestedError if another instance has requested that this one shuts down; also KafkaFailure."""
    partition = partition_of_requests(member)
    _, text = member.committed([partition]).get(partition, (0, ""))
    if (reason := offset_metadata.shutdown_reason(text, member.member_id())) is not None:
        raise ShutdownRequestedError(reason)
