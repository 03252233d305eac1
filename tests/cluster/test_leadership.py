"""A leader and its right to write, on a real broker."""

from __future__ import annotations

from collections.abc import Callable

from headrace.cluster.config_store import ConfigStore
from headrace.cluster.leadership import Leadership
from headrace.errors import ConnectError
from headrace.kafka.failures import timed_out
from headrace.kafka.transactional_ids import fence
from headrace.kafka.transactional_writer import TransactionalWriter
from headrace.runtime.distributed_config import DistributedConfig
from tests.cluster.conftest import Logs
from tests.process import worker_properties
from tests.support import wait_until

WAIT_S, URL = 60, "http://here:1"


class Membership:
    """A group that takes texts of its members only."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_member, self.refused = True, 0

    def announce(self, text: str, timeout_s: float) -> None:
        if not self.is_member:
            self.refused += 1
            raise timed_out("no member")
        self.texts.append(text)

    def announced(self, timeout_s: float) -> str | None:
        return self.texts[-1] if self.texts else None


def could_write(store: ConfigStore, value: str) -> bool:
    try:
        store.put_connector("c", {"by": value})
    except ConnectError:
        return False
    return True


def test_a_leader_whose_write_failed_claims_the_right_to_write_again_if_it_is_a_member(logs: Callable[[int], Logs]) -> None:
    topic = logs(1)
    store = topic.open(ConfigStore(topic.factory, TransactionalWriter(topic.topic, topic.props, topic.topic), topic.topic))
    group, config = Membership(), DistributedConfig(worker_properties("g", URL) | topic.props)
    leadership = Leadership(config, store, group, lambda: None, URL)
    leadership.lead(True)
    try:
        assert leadership.established.wait(WAIT_S)
        fence(topic.props, [topic.topic], WAIT_S)  # as the coordinator does it to a transaction that took too long
        group.is_member = False
        assert not could_write(store, "who was fenced off")
        wait_until(lambda: group.refused, WAIT_S, "the group is asked first")
        assert not store.may_write()
        group.is_member = True
        wait_until(lambda: could_write(store, "the leader"), WAIT_S, "the leader writes again")
        assert store.snapshot().connectors == {"c": {"by": "the leader"}}
        assert leadership.established.is_set()
    finally:
        leadership.lead(False)
