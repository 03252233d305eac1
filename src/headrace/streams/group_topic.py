"""The topic that the instances of an application subscribe to: the one that is assigned its first partition is active.

Instances may choose different topics: a pattern matches topics that are younger than a running instance, and a new version may
read other topics. Then each of them has the first partition of its own topic. So an instance begins only if no other one has the
first partition of another topic, and else joins the group again with that topic. It need not read it: a member reads no records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog

from headrace.errors import RetriableError
from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.groups import Partition
from headrace.retry import retry_until
from headrace.streams.topology import Topology

log = structlog.get_logger(__name__)

_PAUSE_S = 1.0
_LOOKS = 5  # an instance whose topic comes first lets others of the same moment give way; one that runs does not


def choose_topic(topology: Topology, existing_topics: Iterable[str]) -> str | None:
    """The topic to subscribe to: the first source topic by name, else the first that a pattern matches; None without any."""
    named = sorted(
        topic for source in topology.sources() for topic in source.topics
        if topic not in topology.repartition_topics and topic not in topology.global_topics
    )  # fmt: skip
    if named:
        return named[0]
    existing = sorted(existing_topics)
    return next((topic for source in topology.sources() for topic in source.matched(existing)), None)


def topic_of_other_instance(
    member: ActiveStandbyMember,
    generation: int,
    assignments: Callable[[float], dict[str, set[Partition]]],
    timeout_s: float,
    wait: Callable[[float], bool],
) -> str | None:
    """The topic that the active member has to join the group with instead of its own; None if it may begin.

    generation: the member's, in which it decides; it gives up once that has ended. assignments: the partitions of each member,
    empty while the group rebalances; it gets the seconds left, and is retried for `timeout_s`. wait: waits that long, and may
    return true to give up. Raises KafkaFailure.
    """
    looks = 0
    while member.generation == generation:
        assigned = retry_until(assignments, timeout_s, _PAUSE_S, lambda error: isinstance(error, RetriableError), wait)
        me = member.member_id()
        if (member.topic, 0) in assigned.get(me, ()):  # so the group is stable, and every other active member is seen
            others = {topic for name, partitions in assigned.items() if name != me for topic, number in partitions if number == 0}
            others -= {member.topic}
            looks += 1
            if not others:
                return None
            if min(others) < member.topic or looks > _LOOKS:
                return min(others)
        if wait(_PAUSE_S):
            return None
    return None
