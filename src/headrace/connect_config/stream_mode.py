"""Options of earlier versions that are accepted and mean nothing any more."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from headrace.config import Config, Importance, Type, option
from headrace.config.validators import Range, ValidString

log = structlog.get_logger(__name__)

_GROUP = "Tasks"
_IGNORED = ("stream.mode", "stream.realtime.batch.ms")


class StreamModeConfig(Config):
    """How records were moved, before the data plane moved them all (docs/decisions/0017)."""

    stream_mode: str = option(
        "stream.mode",
        Type.STRING,
        "auto",
        validator=ValidString("auto", "realtime", "microbatch"),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace, and accepted for the sake of old configurations: records are copied one by one, in milliseconds, "
        "whatever this says. A chain with Python functions that take many records at once is run batch by batch; "
        "`stream` in the status of the task says so.",
    )
    stream_realtime_batch_ms: int = option(
        "stream.realtime.batch.ms",
        Type.INT,
        5000,
        validator=Range(5000),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace, and accepted for the sake of old configurations: offsets are stored several times a second, or every "
        "few seconds where a worker has many tasks.",
    )


def warn_of_stream_mode(props: Mapping[str, str]) -> None:
    """Log a warning for each of these options that a configuration has."""
    for name in _IGNORED:
        if props.get(name) is not None:
            log.warning("'%s' is accepted and ignored: the data plane copies record by record, whatever it says", name)
