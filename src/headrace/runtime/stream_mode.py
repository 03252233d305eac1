"""The mode in which a task's records are copied, and why."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import structlog

from headrace.runtime.metrics import TaskRecorder
from headrace.runtime.metrics.events import ModeChosen

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StreamMode:
    """`realtime`: a lane of the data plane copies record by record; `microbatch`: Spark copies batch by batch; and why."""

    name: Literal["realtime", "microbatch"]
    reason: str


REAL_TIME = StreamMode("realtime", "the data plane copies record by record")


def batches_for(part: str) -> StreamMode:
    """The mode of a task whose chain has a part that takes many records at once."""
    return StreamMode("microbatch", f"the chain has {part}, which takes many records at once")


class StreamModeReporter:
    """Reports the mode of a task to the log, the metrics and the status, whenever it is another one."""

    def __init__(self, recorder: TaskRecorder, streams: Callable[[StreamMode], None], stopping: threading.Event) -> None:
        """streams: puts the mode into the status; stopping: of the task, whose status is no longer RUNNING then."""
        self._recorder, self._streams, self._stopping = recorder, streams, stopping
        self._reported: StreamMode | None = None

    def report(self, mode: StreamMode) -> None:
        """Report the mode, unless it is the one that was reported last."""
        if mode != self._reported and not self._stopping.is_set():
            log.info("task.stream-mode", mode=mode.name, reason=mode.reason)
            self._recorder.record(ModeChosen(mode.name, mode.reason))
            self._streams(mode)
        self._reported = mode
