"""When an active member joins its group again with another topic, without a broker: what it sees of the group is given."""

from __future__ import annotations

from collections.abc import Iterable

from headrace.kafka.active_standby import ActiveStandbyMember
from headrace.kafka.groups import Partition
from headrace.streams.group_topic import topic_of_other_instance

Group = dict[str, set[Partition]]
REBALANCING: Group = {"me": set(), "other": set()}


class Active(ActiveStandbyMember):
    """The active member "me" of a group on the topic "m", in this generation."""

    def __init__(self, generation: int = 1) -> None:
        super().__init__({"bootstrap.servers": "127.0.0.1:1"}, "group", "m", lambda active: None)
        self.now = generation

    @property
    def generation(self) -> int | None:
        return self.now

    def member_id(self, timeout_s: float = 0) -> str:
        return "me"


def group(other: str) -> Group:
    """Both members are active, each on its topic."""
    return {"me": {("m", 0)}, "other": {(other, 0)}}


def decision(groups: Iterable[Group], member: ActiveStandbyMember) -> tuple[str | None, int]:
    """The topic to join with, and how often the member has waited for another look; it sees these groups one after the other."""
    looks, waits = iter(groups), list[float]()
    topic = topic_of_other_instance(member, 1, lambda left_s: next(looks), 1, lambda pause_s: bool(waits.append(pause_s)))
    return topic, len(waits)


def test_of_two_active_members_the_one_whose_topic_comes_last_gives_way():
    assert decision([group("a")], Active()) == ("a", 0)
    assert decision([REBALANCING, group("a")], Active()) == ("a", 1)
    assert decision([group("z"), REBALANCING, {"me": {("m", 0)}}], Active()) == (None, 2)


def test_a_member_that_does_not_give_way_runs_already():
    assert decision([group("z")] * 6, Active()) == ("z", 5)


def test_a_member_whose_topic_others_have_too_begins():
    assert decision([{"me": {("m", 0)}, "other": {("m", 1), ("a", 1)}, "standby": set()}], Active()) == (None, 0)


def test_a_member_that_is_active_again_leaves_the_decision_to_its_new_generation():
    member = Active()

    def groups() -> Iterable[Group]:
        member.now = 2
        yield REBALANCING

    assert decision(groups(), member) == (None, 1)
    assert decision([], Active(2)) == (None, 0)
