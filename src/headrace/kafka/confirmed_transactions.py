"""Transactions that are complete once their records were read back: acknowledged records may be lost before that.

A commit is acknowledged when the coordinator has it in its log; the markers that let readers see the records follow. Brokers of
Kafka 4.3 leave out the markers of a partition that has no leader at that moment, as when its only replica stops or starts, and
never write them (KAFKA-20734). The records then stay undecided, and nobody who reads committed gets past them, until the same
transactional id ends its next transaction with this partition: they are committed, or aborted, with that one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import structlog

from headrace.kafka.failures import RetriableKafkaFailure
from headrace.kafka.log import RecordLog

log = structlog.get_logger(__name__)

_READ_BACK_S = 3.0  # usually a few milliseconds; longer behind an open transaction of another process, which does no harm


def write_confirmed(write: Callable[[float], Mapping[int, int]], readers: RecordLog, timeout_s: float) -> None:
    """Write in a transaction, and again if a read-committed log does not see its records.

    The second transaction completes the first if that is undecided, and replaces it if it was aborted. write: takes a time-out
    in seconds, and returns the offset after the last record by partition. Raises its errors, and RetriableKafkaFailure after
    `timeout_s`: the records may be written nevertheless.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        ends = write(deadline - time.monotonic())
        committed_at = time.monotonic()
        patience_s = min(_READ_BACK_S, deadline - committed_at)
        try:
            if readers.read_back(ends, patience_s):
                return
        except RetriableKafkaFailure:
            if (now := time.monotonic()) >= deadline or now < committed_at + patience_s:  # the latter: the log was closed
                raise
        log.warning("transaction.records-missing", ends=dict(ends), hint="Kafka acknowledged them; they are rewritten")
