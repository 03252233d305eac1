"""The mode in which a task's records are copied, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class StreamMode:
    """`realtime`: a lane of the data plane copies record by record; `microbatch`: Spark copies batch by batch; and why."""

    name: Literal["realtime", "microbatch"]
    reason: str


REAL_TIME = StreamMode("realtime", "the data plane copies record by record")
