"""Starts a broker from a server.properties file: `python -m tests.conformance.broker PROPERTIES CLUSTER_ID`.

For the scenarios of the recorded transcript that need a broker of their own; the process becomes the broker.
"""

from __future__ import annotations

import os
import subprocess
import sys

from headrace.jvm.jars import classpath
from headrace.jvm.java import find_java


def main(properties: str, cluster_id: str) -> None:
    """Format the storage if that has not been done, and run."""
    java = str(find_java().program)
    command = [java, "-Xmx512m", "-XX:+UseSerialGC", "-cp", classpath("broker", None)]
    storage = [*command, "kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", cluster_id, "-c", properties]
    subprocess.run(storage, check=True)
    os.execv(java, [*command, "kafka.Kafka", properties])


if __name__ == "__main__":
    main(*sys.argv[1:])
