"""Options that say how records are moved: accepted, and without effect."""

from __future__ import annotations

from headrace.config import Config, Importance, Type, option
from headrace.config.validators import Range, ValidString

_GROUP = "Tasks"
_REASON = "the data plane copies record by record, in milliseconds"


class StreamModeConfig(Config):
    """How records were moved, before the data plane moved them all (docs/decisions/0017)."""

    stream_mode: str = option(
        "stream.mode",
        Type.STRING,
        "auto",
        validator=ValidString("auto", "realtime", "microbatch"),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: how records are moved. A chain with Python functions that take many records at once is run batch by "
        "batch, whatever this says; `stream` in the status of the task says so.",
        without_effect=_REASON,
    )
    stream_realtime_batch_ms: int = option(
        "stream.realtime.batch.ms",
        Type.INT,
        5000,
        validator=Range(5000),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: how often offsets are stored, which is several times a second, or every few seconds where a worker "
        "has many tasks.",
        without_effect=_REASON,
    )
