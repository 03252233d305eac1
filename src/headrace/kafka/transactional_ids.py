"""Transactional ids of exactly-once source tasks, and fencing of their earlier producers (KIP-618)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import KafkaException

from headrace.kafka import clients
from headrace.kafka.failures import failure

_PARALLEL = 8


def transactional_id(group: str, connector: str, task: int) -> str:
    """The id of a task's producer, as Kafka Connect has it."""
    return f"{group}-{connector}-{task}"


def fence(props: Mapping[str, str], ids: Iterable[str], timeout_s: float) -> None:
    """Fence the producers of these transactional ids; their open transactions are aborted when this returns.

    props: Java settings of a client. Raises KafkaFailure.
    """

    def initialize(transactional_id: str) -> None:
        settings = {**props, "transactional.id": transactional_id, "enable.idempotence": "true", "acks": "all"}
        producer = clients.producer(settings, retry_backoff_ms="5", retry_backoff_max_ms="200")
        try:
            producer.init_transactions(timeout_s)
        except KafkaException as error:
            raise failure(error) from None

    with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="fencing") as pool:
        list(pool.map(initialize, ids))
