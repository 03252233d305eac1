"""Explains why a cluster was not reached: servers, time-out, and the last error of the connection."""

from __future__ import annotations

import re
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException

from headrace.kafka.failures import REQUEST_TIMED_OUT, UNREACHABLE, KafkaFailure, failure, kafka_error, kafka_failure

_REFUSED = {"_AUTHENTICATION": "SASL_AUTHENTICATION_FAILED", "_SSL": "SSL_HANDSHAKE_FAILED"}
_NOISE = re.compile(r"^\S+/(?:bootstrap|\d+): | \(after \d+ms in state \w+(?:, \d+ identical error\(s\) suppressed)?\)")


class ConnectionDiagnosis:
    """Keeps the last error of a client's connections, to explain a time-out."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self.servers = str(props.get("bootstrap.servers", ""))
        self._last: KafkaError | None = None

    def on_error(self, error: KafkaError) -> None:
        """The client's `error_cb`."""
        if error.name() != "_ALL_BROKERS_DOWN":  # less specific than the error before it
            self._last = error

    def forget(self) -> None:
        """Drop the last error after a successful call."""
        self._last = None

    def failure(self, error: KafkaException | TimeoutError, timeout_s: float) -> KafkaFailure:
        """The KafkaFailure of a failed call with this time-out."""
        if isinstance(error, KafkaException) and kafka_error(error).name() not in UNREACHABLE:
            return failure(error)
        last, self._last = self._last, None
        if last is not None and last.name() in _REFUSED:
            return kafka_failure(
                _REFUSED[last.name()],
                last.str(),
                f"The Kafka cluster at '{self.servers}' did not let this client in: {_NOISE.sub('', last.str())}. "
                "Check security.protocol and the sasl.* and ssl.* settings.",
            )
        detail = f": {_NOISE.sub('', last.str())}" if last is not None else ""
        return kafka_failure(
            REQUEST_TIMED_OUT,
            f"Could not reach the Kafka cluster at '{self.servers}' within {round(timeout_s, 2):g} s{detail}. "
            "Check bootstrap.servers and security.protocol, and that the brokers are up.",
        )

    def is_failure(self, error: KafkaFailure) -> bool:
        """Whether this is an error of the connection to the cluster, not of the request."""
        return error.code in (REQUEST_TIMED_OUT, *_REFUSED.values())
