"""headrace: Kafka Connect and the topic life cycle of Kafka Streams, in Python, with Spark as the engine."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("headrace")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

KAFKA_VERSION = "4.3.0"
"""The version of Kafka Connect whose interface this is, and of the plugins that bear Kafka's names: clients switch features on by
it, and configurations pin it (`connector.plugin.version`, KIP-891)."""


def _log_to_python() -> None:
    """Have what is logged in somebody else's application go to Python's logging, as any library does: it decides what is shown.

    `headrace.runtime.logs` sets up the log of a process that is headrace's own. Before anything is installed
    there is no structlog.
    """
    try:
        import structlog
    except ImportError:
        return

    def one_line(_logger: object, _method: str, event: structlog.types.EventDict) -> str:
        return " ".join([str(event.pop("event")), *(f"{key}={value}" for key, value in event.items())])

    if not structlog.is_configured():
        structlog.configure(
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.PositionalArgumentsFormatter(),
                structlog.processors.format_exc_info,
                one_line,
            ],
            logger_factory=structlog.stdlib.LoggerFactory(),
            wrapper_class=structlog.stdlib.BoundLogger,
        )


_log_to_python()
