"""Objects of the JVM to which Python has no reference any more."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from tests.support import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OBJECTS = 5000


def test_what_python_no_longer_refers_to_is_released_and_nothing_else(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    bindings = spark.sparkContext._gateway.java_gateway_server.getGateway().getBindings()  # pyright: ignore
    kept = jvm.java.util.ArrayList()
    lists = [jvm.java.util.ArrayList() for _ in range(OBJECTS)]
    ids = [one._target_id for one in lists]
    assert all(bindings.containsKey(one) for one in (*ids, kept._target_id))
    del lists
    gc.collect()
    wait_until(lambda: not any(bindings.containsKey(object_id) for object_id in ids), 60, "the objects are released")
    kept.add("kept")
    assert kept.get(0) == "kept"
