"""The worker's log: one line for each event, with its connector and task, on standard error.

Errors of Kafka clients and of uvicorn go through Python's logging and have the same format. The level is `HEADRACE_LOG_LEVEL`
(INFO), by a name of Log4j or of Python, and REST's `/admin/loggers` changes it by logger while the worker runs. The last lines
about each connector are kept for REST as well (`recent_logs`).
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

import structlog

from headrace.config.redaction import redact_event, redact_line
from headrace.errors import ConfigError
from headrace.runtime.recent_logs import RECENT

LEVELS = {
    "ALL": 1,
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "OFF": logging.CRITICAL + 10,
}
"""Log4j's levels, which Kafka Connect's REST API and the images' variables name, as numbers of Python's logging."""
_OF_PYTHON = {"WARNING": logging.WARNING, "CRITICAL": logging.CRITICAL}


def configure(stream: TextIO | None = None, level: str | None = None, clients: bool = True) -> None:
    """Set up logging of the process; another call replaces what the one before it has set up.

    stream: output, standard error if None; level: a name in LEVELS or of Python's logging, that of `HEADRACE_LOG_LEVEL` if None;
    clients: whether the warnings of Kafka's clients are logged. Raises ConfigError for a name that is no level.
    """
    root_level = _number(level or os.environ.get("HEADRACE_LOG_LEVEL") or "INFO")
    shared = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact_event,
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    target = stream or sys.stderr
    renderer = structlog.dev.ConsoleRenderer(colors=target.isatty(), pad_event_to=0)
    rendering = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer, redact_line]
    handler = logging.StreamHandler(target)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=rendering, foreign_pre_chain=shared))
    handler.addFilter(_not_of_py4j)
    root = logging.getLogger()
    RECENT.addFilter(_not_of_py4j)
    root.handlers[:] = [handler, RECENT]
    root.setLevel(root_level)
    logging.getLogger("headrace.kafka.client").setLevel(logging.NOTSET if clients else logging.ERROR)
    for noisy in ("httpx", "httpcore", "uvicorn.access", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _number(level: str) -> int:
    number = (LEVELS | _OF_PYTHON).get(level.strip().upper())
    if number is None:
        raise ConfigError(
            f"'{level}' (HEADRACE_LOG_LEVEL, or of an image CONNECT_LOG4J_ROOT_LOGLEVEL) is no log level; it may be "
            f"{', '.join(LEVELS)}."
        )
    return number


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Filter out Py4J, which logs a traceback, sometimes on the root logger, for errors that tasks report themselves."""
    return not record.name.startswith("py4j") and "py4j" not in record.pathname
