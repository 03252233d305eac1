"""The worker's log: one line for each event, with its connector and task, on standard error.

Errors of Kafka clients and of uvicorn go through Python's logging and have the same format. The level is `HEADRACE_LOG_LEVEL`
(INFO), and REST's `/admin/loggers` changes it by logger while the worker runs. The last lines about each connector are kept for
REST as well (`recent_logs`).
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

import structlog

from headrace.config.redaction import redact_event, redact_line
from headrace.runtime.recent_logs import RECENT


def configure(stream: TextIO | None = None, level: str | None = None) -> None:
    """Set up logging of the process; call it once at the start. stream: output, standard error if None."""
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
    root.setLevel((level or os.environ.get("HEADRACE_LOG_LEVEL") or "INFO").upper())
    for noisy in ("httpx", "httpcore", "uvicorn.access", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Filter out Py4J, which logs a traceback, sometimes on the root logger, for errors that tasks report themselves."""
    return not record.name.startswith("py4j") and "py4j" not in record.pathname
