"""Real Apache Kafka as a child process, for development and tests: `Broker`."""

from headrace.embedded.broker import Broker

__all__ = ["Broker"]
