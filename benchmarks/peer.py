"""The peer: MirrorMaker 2 of Apache Kafka 4.3.0, its MirrorSourceConnector in a distributed Kafka Connect worker.

Connect's worker rather than the dedicated MirrorMaker process: the same connector and task code, but over REST it can
be told to mirror another topic in a JVM that is warm.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from benchmarks.engine import Mirror
from benchmarks.java import GC, java

# What Kafka's own scripts (connect-distributed.sh, kafka-run-class.sh) give the JVM, and a quiet log.
JVM = (
    *("-Xms256M", "-Xmx2G", *GC, "-Djava.awt.headless=true"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


# The plugins are on the class path, where service loading finds them without a scan of every jar.
PLUGINS = {"plugin.discovery": "service_load"}


def connect(properties: Path, own: Path | None = None) -> list[str]:
    """Return the command line of a distributed Connect worker; `own`: classes of more plugins."""
    return [*java(JVM, own), "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)]


class MirrorMaker(Mirror):
    """One Connect worker that runs MirrorSourceConnector."""

    name: ClassVar[str] = "MirrorMaker 2"

    def command(self, properties: Path) -> list[str]:
        """Run ConnectDistributed."""
        return connect(properties)

    def worker_properties(self) -> dict[str, str]:
        """Return what both sides share, and PLUGINS."""
        return super().worker_properties() | PLUGINS

    def connector(self, topic: str, alias: str) -> dict[str, str]:
        """MirrorMaker's defaults for all but what one broker of a kind requires; no ACLs: the brokers have none."""
        return {
            "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
            "tasks.max": "2",
            "source.cluster.alias": alias,
            "target.cluster.alias": "destination",
            "source.cluster.bootstrap.servers": self.source,
            "target.cluster.bootstrap.servers": self.destination,
            "topics": topic,
            "replication.factor": "1",
            "offset-syncs.topic.replication.factor": "1",
            "sync.topic.acls.enabled": "false",
        }
