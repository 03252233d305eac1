"""Make the archives of `headrace.jvm.class_archive`: run Spark and a broker once, and have Java write down what they loaded.

`python -m headrace.cli.archives spark <file>` is the child process that runs Spark, since a process has one session only.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headrace.embedded import Broker
from headrace.errors import SetupError
from headrace.jvm.class_archive import Of, archive, making
from headrace.jvm.jars import claimed
from headrace.retry import poll_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.testing.worker import EmbeddedWorker

_TIMEOUT_S = 300
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_WORKER = {
    "group.id": "archives", "listeners": "http://127.0.0.1:0", "key.converter": _JSON, "value.converter": _JSON,
    **{f"{kind}.storage.topic": f"archives-{kind}" for kind in ("config", "offset", "status")},
    **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
}  # fmt: skip


def make(report: Callable[[str], None]) -> None:
    """Make the archives that are missing, which takes seconds; `report` gets each, and what could not be made.

    Where Java writes none, an empty file marks it, so that it is not tried again; after a failure the next call tries again.
    Raises SetupError if a jar is missing or the cache cannot be written.
    """
    for of in get_args(Of):
        target = archive(of)
        if target.is_file():
            continue
        try:
            with claimed(target, report) as partial:
                if partial:
                    report(f"archiving the classes of {of}, for quick starts")
                    partial.unlink(missing_ok=True)  # of a run that failed, whose Java may still write to it
                    _run(of, partial)
                    partial.touch()
        except subprocess.SubprocessError as error:
            stderr = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else ""
            why = (stderr or str(error)).splitlines()[-1]
            report(f"the classes of {of} could not be archived, so it will start more slowly: {why}")


def _run(of: Of, file: Path) -> None:
    command = [sys.executable, "-m", "headrace.cli.archives", of, str(file)]
    subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)


def _spark(file: Path) -> None:
    """A session, a query that streams, and a worker whose connectors copy lines: what a preview and a worker begin with."""
    from headrace.spark.session import session
    from headrace.testing.worker import EmbeddedWorker

    spark = session({"spark.driver.extraJavaOptions": shlex.join(making(file))})
    spark.range(3).selectExpr("parse_json(to_json(named_struct('id', id))) AS value").collect()

    def write(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("append").save()

    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    query = rows.selectExpr("CAST(value AS STRING) AS value").writeStream.foreachBatch(write).trigger(availableNow=True).start()
    query.awaitTermination(_TIMEOUT_S)
    with (
        tempfile.TemporaryDirectory() as data,
        Broker(data=Path(data, "broker")) as broker,
        EmbeddedWorker(broker.bootstrap, _WORKER) as worker,
    ):
        _copy_lines(worker, Path(data, "from"), Path(data, "to"))
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # its end is what ends Spark's Java
    gateway.proc.wait()


def _copy_lines(worker: EmbeddedWorker, source: Path, target: Path) -> None:
    """From a file to a topic, and from there to another file, until a line is there."""
    source.write_text("line\n")
    connector = "org.apache.kafka.connect.file.FileStream"
    reading = {"connector.class": f"{connector}SourceConnector", "file": str(source), "topic": "lines"}
    created = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}
    writing = {"connector.class": f"{connector}SinkConnector", "file": str(target), "topics": "lines"}
    worker.call("POST", "/connectors", {"name": "source", "config": reading | created})
    worker.call("POST", "/connectors", {"name": "sink", "config": writing})
    if not poll_until(lambda _left_s: target.is_file() and target.stat().st_size, _TIMEOUT_S, 0.1):
        raise SetupError(f"The connectors copied no line within {_TIMEOUT_S} s.")


def _broker(file: Path) -> None:
    """A broker that takes a record."""
    with tempfile.TemporaryDirectory() as data, Broker(data=Path(data), java_options=making(file)) as broker:
        client: dict[str, Any] = {"bootstrap.servers": broker.bootstrap}
        admin = AdminClient(client)
        admin.create_topics([NewTopic("archived", 1, 1)])["archived"].result(_TIMEOUT_S)
        producer = Producer(client)
        producer.produce("archived", b"value")
        producer.flush(_TIMEOUT_S)


if __name__ == "__main__":
    {"spark": _spark, "broker": _broker}[sys.argv[1]](Path(sys.argv[2]))
