"""headrace: Kafka Connect and the topic life cycle of Kafka Streams, in Python, with Spark as the engine."""

from importlib.metadata import PackageNotFoundError, version

import structlog

try:
    __version__ = version("headrace")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

KAFKA_VERSION = "4.3.0"
"""The version of Kafka Connect whose interface this is, and of the plugins that bear Kafka's names: clients switch features on by
it, and configurations pin it (`connector.plugin.version`, KIP-891)."""


def _one_line(_logger: object, _method: str, event: structlog.types.EventDict) -> str:
    """The sentence or name of an event, and its fields."""
    return " ".join([str(event.pop("event")), *(f"{key}={value}" for key, value in event.items())])


if not structlog.is_configured():
    # In somebody else's application headrace logs to Python's logging, as any library does, and the application decides what is
    # shown. `headrace.runtime.logs` sets up the log of a process that is headrace's own.
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.format_exc_info,
            _one_line,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
