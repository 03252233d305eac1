"""`python -m benchmarks.sender BROKER RATE TOTAL PARTITIONS TOPIC …`: send records at a steady rate, each with its sending time.

A process of its own: beside a consumer in the same Python, the two would wait for each other's interpreter lock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from confluent_kafka import Producer

PAYLOAD = b"x" * 100  # after the sequence number and the time
TICK_S = 0.001  # at high rates, what is due is sent this often: a pause for each record would be more than it takes
# What is sent in one tick goes together, and no more requests are under way than a Java producer has: else librdkafka sends each
# record in a request of its own, and ten thousand a second of those hold up the broker, which is no business of the mirror's.
SETTINGS: dict[str, str | int] = {"linger.ms": 1, "acks": "1", "max.in.flight.requests.per.connection": 5}


def send(broker: str, rate: int, total: int, targets: Sequence[tuple[str, int]]) -> None:
    """Send `total` records, `rate` a second over all, in turn to `targets` (topic and partition).

    The value of each is its number, the time of its sending (ns since 1970) and 100 bytes, with blanks between.
    """
    producer = Producer({"bootstrap.servers": broker, **SETTINGS})
    start, number = time.monotonic(), 0
    while number < total:
        time.sleep(max(TICK_S, start + number / rate - time.monotonic()))
        due = min(total, int((time.monotonic() - start) * rate) + 1)
        for one in range(number, due):
            topic, partition = targets[one % len(targets)]
            producer.produce(topic, b"%d %d %b" % (one, time.time_ns(), PAYLOAD), partition=partition)
        number = due
        producer.poll(0)
    producer.flush(30)


if __name__ == "__main__":
    rate, total, partitions = map(int, sys.argv[2:5])
    send(sys.argv[1], rate, total, [(topic, partition) for topic in sys.argv[5:] for partition in range(partitions)])
