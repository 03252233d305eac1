from headrace.runtime.feed_run import batch_ms, bytes_read
from headrace.spark.feeds import Ages, PartitionUpdate

WEEK_MS = 7 * 24 * 3600 * 1000


def test_records_that_were_old_when_they_were_read_took_no_longer_than_since_the_last_update() -> None:
    assert batch_ms([Ages(2, WEEK_MS, WEEK_MS, 2 * WEEK_MS, WEEK_MS)], 250.0) == 250.0


def test_fresh_records_took_what_their_timestamps_say_however_long_nothing_came() -> None:
    assert batch_ms([Ages(1, 3, 3, 3, 3), Ages(3, 5, 9, 21, 7)], 3_600_000.0) == 6.0


def test_a_clock_that_is_ahead_gives_no_negative_time_and_records_without_timestamps_count_since_the_last_update() -> None:
    assert batch_ms([Ages(1, -5, -5, -5, -5)], 100.0) == 0.0
    assert batch_ms([Ages(0, 0, 0, 0, 0)], 100.0) == 100.0


def test_bytes_are_those_since_the_last_update_of_each_partition() -> None:
    none, totals = Ages(0, 0, 0, 0, 0), dict[tuple[str, int], int]()

    def read(**partitions: int) -> int:
        updates = [PartitionUpdate(topic, 0, 1, 1, total, -1, -1, -1, none, none) for topic, total in partitions.items()]
        return bytes_read(updates, totals)

    assert [read(a=5, b=7), read(a=9), read(), read(b=10)] == [12, 4, 0, 3]
