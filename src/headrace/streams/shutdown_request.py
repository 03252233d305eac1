"""The request of an instance that every instance of its application shuts down (KIP-671, `SHUTDOWN_APPLICATION`).

Kafka Streams sends it with the group's protocol, in data that librdkafka does not let a member set. Here the active instance
commits it with the offset of the first partition of the topic that the group subscribes to, and then leaves: whoever is active
next reads it before it begins. It names the members of that moment, so an instance that is started later works.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from headrace.errors import RetriableError, ShutdownRequestedError
from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.groups import Partition
from headrace.retry import Backoff, retry_until
from headrace.streams.engine import offset_metadata

log = structlog.get_logger(__name__)

_REQUEST_S = 5.0  # for one answer: librdkafka itself asks again as long, and the member does nothing else meanwhile


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


def refuse_if_requested(member: ActiveStandbyMember, timeout_s: float, wait: Callable[[float], bool]) -> None:
    """Raise ShutdownRequestedError if another instance has requested that this one shuts down.

    Retried for `timeout_s`: the offsets are unknown while a transaction of the instance that was active before is open. wait:
    waits that long, and may return true to end the attempts. Raises also KafkaFailure.
    """
    partition = partition_of_requests(member)

    def reason(left_s: float) -> str | None:
        _, text = member.committed([partition], min(left_s, _REQUEST_S)).get(partition, (0, ""))
        return offset_metadata.shutdown_reason(text, member.member_id())

    backoff = Backoff(0.1, 1.0)

    def pause(_pause_s: float) -> bool:
        return wait(backoff.failed())

    requested = retry_until(reason, timeout_s, backoff.first_s, _may_help, pause)
    if requested is not None:
        raise ShutdownRequestedError(requested)


def _may_help(error: Exception) -> bool:
    if isinstance(error, RetriableError):
        log.warning("It is asked again whether this instance has to shut down: %s", error)
    return isinstance(error, RetriableError)
