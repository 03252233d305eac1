import pytest

from headrace.runtime.feed_settings import batch_limit, commit_interval_ms, has_own_code, lane_producer
from headrace.spark.topic_writer import PRODUCER


@pytest.mark.parametrize(
    ("partitions", "limit"), [(0, 32 << 20), (1, 32 << 20), (256, 256 << 10), (1000, 64 << 10), (1024, 64 << 10)]
)
def test_a_batch_for_each_partition_takes_no_more_than_half_of_the_producers_memory(partitions: int, limit: int) -> None:
    assert batch_limit(PRODUCER, partitions, 2) == batch_limit({}, partitions, 2) == limit
    memory = int(lane_producer({}, limit)["buffer.memory"])
    assert partitions / 2 * limit <= memory / 2


def test_a_size_of_batches_that_the_user_sets_is_left_alone() -> None:
    assert batch_limit({**PRODUCER, "batch.size": "327680"}, 1000, 2) is None


def test_a_linger_that_is_set_is_kept_though_it_is_kafkas_default() -> None:
    assert lane_producer({}, None)["linger.ms"] == "0"
    assert lane_producer({"linger.ms": "5"}, None)["linger.ms"] == "5"


def test_clients_with_classes_of_a_user_share_no_lane() -> None:
    kafkas = {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner", "interceptor.classes": ""}
    assert not has_own_code({}, kafkas)
    assert has_own_code({}, {"partitioner.class": "com.example.ByRegion"})
    assert has_own_code({"interceptor.classes": "org.apache.kafka.Known, com.example.Traces"}, kafkas)


def test_a_transaction_gathers_records_for_half_of_its_time_out_at_most() -> None:
    assert (commit_interval_ms(None, {}), commit_interval_ms(200, {}), commit_interval_ms(60_000, {})) == (0, 200, 30_000)
    assert commit_interval_ms(60_000, {"transaction.timeout.ms": "4000"}) == 2000
