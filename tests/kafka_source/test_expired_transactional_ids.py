"""Tasks that were idle until the broker has forgotten their transactional ids (transactional.id.expiration.ms)."""

from __future__ import annotations

import pytest

from headrace.embedded.ports import free_port
from headrace.testing.worker import EmbeddedWorker
from tests.clusters import record
from tests.forgetful import await_forgotten, forgetful_cluster
from tests.kafka_source.mirror import Mirror
from tests.process import worker_properties


@pytest.mark.slow
def test_a_task_whose_transactional_id_has_expired_goes_on_and_writes_each_record_once() -> None:
    """A task of Kafka Connect fails then, and has to be restarted."""
    props = worker_properties("idle", f"http://127.0.0.1:{free_port()}") | {"exactly.once.source.support": "enabled"}
    with forgetful_cluster() as cluster, EmbeddedWorker(cluster.bootstrap, props) as worker:
        cluster.create("orders")
        mirror = Mirror(worker, (cluster, cluster), "idle", "orders", {"exactly.once.support": "required"})
        mirror.create()
        for count in (1, 2, 3):
            if count > 1:
                await_forgotten(cluster)
            cluster.produce("orders", [record(b"k", b"%d" % count)])
            mirror.await_copied("orders", count)
        copied = cluster.read(f"{mirror.prefix}orders", settled=True)
        assert [one.value for one in copied] == [b"1", b"2", b"3"]
