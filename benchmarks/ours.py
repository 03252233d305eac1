"""Our side: a headrace worker with the Kafka source connector of KIP-310."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import ClassVar

from benchmarks.engine import Mirror


def worker(properties: Path) -> list[str]:
    """Return the command line of a headrace worker: `headrace worker` with this Python."""
    return [sys.executable, "-m", "headrace.cli", "worker", str(properties)]


class Headrace(Mirror):
    """One headrace worker, as `headrace worker FILE.properties` starts it."""

    name: ClassVar[str] = "headrace"

    def command(self, properties: Path) -> list[str]:
        """Run `headrace worker`."""
        return worker(properties)

    def connector(self, topic: str, alias: str) -> dict[str, str]:
        """Defaults for all but the destination topics, which are made as MirrorMaker makes them."""
        return {
            "connector.class": "KafkaSourceConnector",
            "tasks.max": "2",
            "source.bootstrap.servers": self.source,
            "source.topic.whitelist": re.escape(topic),
            "destination.topics.prefix": f"{alias}.",
            "topic.creation.default.partitions": str(self.partitions),
            "topic.creation.default.replication.factor": "1",
        }
