"""A broker that forgets transactional ids which have been idle for some seconds: by default it is a week."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.embedded import Broker
from tests.clusters import Cluster
from tests.support import wait_until

_FORGOTTEN_S = 180
_STATE = "__transaction_state"


@contextmanager
def forgetful_cluster() -> Iterator[Cluster]:
    """A cluster of one such broker."""
    settings = {
        "transactional.id.expiration.ms": "4000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
    }
    with Broker(settings=settings, name="forgetful") as broker:
        yield Cluster(broker.bootstrap)


def await_forgotten(cluster: Cluster) -> None:
    """Wait until the broker knows none of the transactional ids that it has had."""

    def known() -> list[bytes | None]:
        states = {record.key: record.value for record in cluster.read(_STATE)}
        assert states, "there has been a transactional id"
        return [key for key, value in states.items() if value is not None]

    wait_until(lambda: not known(), _FORGOTTEN_S, lambda: f"all are forgotten, but {known()} are not")
