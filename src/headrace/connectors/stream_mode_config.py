"""The options of connectors whose streams can run without a pause."""

from __future__ import annotations

from headrace.config import Config, Importance, Type, option
from headrace.config.validators import Range, ValidString

_GROUP = "Tasks"


class StreamModeConfig(Config):
    """How a stream runs (docs/decisions/0013)."""

    stream_mode: str = option(
        "stream.mode",
        Type.STRING,
        "auto",
        validator=ValidString("auto", "realtime", "microbatch"),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: `microbatch`: records are written batch by batch. `realtime`: Spark reads and writes them without a "
        "pause, which takes milliseconds instead of tenths of a second, holds a task slot of Spark for each partition, and after "
        "a failure copies again what came since offsets were stored. `auto`: like `realtime`, once the task has caught up, where "
        "nothing is against it and Spark has a slot for each partition beside one for each core of the machine "
        "(`spark.master=local[N]`); else like `microbatch`.",
    )
    stream_realtime_batch_ms: int = option(
        "stream.realtime.batch.ms",
        Type.INT,
        5000,
        validator=Range(5000),
        importance=Importance.LOW,
        group=_GROUP,
        doc="Of headrace: how often offsets are stored in real-time mode. Where Spark runs in the worker's own process, records "
        "go on meanwhile; on a cluster, offsets are stored between two batches, with a pause of some tenths of a second.",
    )
