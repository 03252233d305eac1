"""The JVM of a Spark session, whose standard error is this process's own but for one line that nobody needs.

Spark's launcher adds Java's incubating vector module, and Java has no option against its warning about that.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkConf

_UNWANTED = b"WARNING: Using incubator modules: jdk.incubator.vector"
_STANDARD_ERROR = 2


def launch(conf: SparkConf) -> JavaGateway:
    """Start the JVM of a Spark session with these settings."""
    from pyspark.java_gateway import launch_gateway

    reading, writing = os.pipe()
    threading.Thread(target=pass_on, args=(reading,), name="spark-standard-error", daemon=True).start()
    try:
        return launch_gateway(conf, {"stderr": writing})
    finally:
        os.close(writing)


def pass_on(source: int) -> None:
    """Write the lines that come from a pipe's descriptor to standard error, without the unwanted one, until it ends; close it."""
    with open(source, "rb") as lines:
        for line in lines:
            if line.strip() != _UNWANTED:
                os.write(_STANDARD_ERROR, line)
