"""headrace: Kafka Connect and the topic life cycle of Kafka Streams, in Python, with Spark as the engine."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("headrace")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

KAFKA_VERSION = "4.3.0"
"""The version of Kafka Connect whose interface this is, and of the plugins that bear Kafka's names: clients switch features on by
it, and configurations pin it (`connector.plugin.version`, KIP-891)."""
