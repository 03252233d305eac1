"""A real single-node Apache Kafka as a child process."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from headrace.embedded import directory
from headrace.embedded.child import spawn
from headrace.embedded.diagnosis import explain
from headrace.embedded.ports import free_port, require_free
from headrace.embedded.settings import HOST, server_properties, to_text
from headrace.errors import SetupError
from headrace.jvm.class_archive import using
from headrace.jvm.jars import Progress, classpath
from headrace.jvm.java import find_java

_JAVA_OPTIONS = (
    "-Xmx512m",
    "-XX:+UseSerialGC",  # on a few cores it starts quicker and takes less memory than G1
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.logFile=System.out",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.common.config=warn",  # three hundred settings at every start
)
_GOOD_ORDER_S = 30
"""How long a broker may take to stop in good order before it is killed."""


class Broker:
    """One Kafka node, broker and controller in one, on 127.0.0.1 only; a context manager that starts and stops it.

    port: the port to listen on; 0 picks a free one at the first start, and `restart()` keeps it.
    data: its directory, made if absent; the data of an earlier broker in it is used. None: a scratch directory,
        deleted by `stop()`.
    settings: `server.properties` of Kafka, above those of `headrace.embedded.settings`.
    name: what messages call it.
    java_options: more of them for the Java machine that it runs in.

    The process dies with this one, even with `kill -9`. Its log is `broker.log` in the data directory.
    """

    def __init__(
        self,
        port: int = 0,
        data: Path | None = None,
        settings: Mapping[str, str] | None = None,
        name: str = "broker",
        java_options: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.port = port
        self.settings = dict(settings or {})
        self._java_options = java_options
        self._scratch = data is None
        self._data = data.absolute() if data else None
        self._controller_port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._run_began_at = 0

    @property
    def data(self) -> Path:
        """The data directory; a scratch one is made when first asked for."""
        if self._data is None:
            self._data = Path(tempfile.mkdtemp(prefix=f"headrace-{self.name}-"))
        return self._data

    @property
    def log(self) -> Path:
        """The file that Kafka logs into."""
        return self.data / "broker.log"

    @property
    def bootstrap(self) -> str:
        """The value of `bootstrap.servers` for its clients; where the port was 0, known after `start()`."""
        return f"{HOST}:{self.port}"

    @property
    def cluster_id(self) -> str:
        """Kafka's id of the cluster; known after `start()`."""
        return directory.cluster_id(self.data)

    @property
    def pid(self) -> int | None:
        """The id of the process while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self, progress: Progress | None = None, timeout_s: float = 180) -> Self:
        """Start it and wait until it answers; does nothing if it runs.

        `progress` is called with what is being done, a few words at a time. After `kill()` Kafka reads its logs before it
        answers, which takes a minute with hundreds of partitions on a busy machine. Raises SetupError, in one sentence, if
        Java is missing, a port is in use, the data directory cannot be used or is another node's, or Kafka ends or does not
        answer in time.
        """
        if self.pid:
            return self
        report = progress or (lambda _: None)
        try:
            class_path = classpath("broker", progress)
            command = [str(find_java().program), *_JAVA_OPTIONS, *using("broker"), "-cp", class_path]
            properties = self._prepare()
            if not directory.is_formatted(self.data, properties["node.id"]):
                report(f"formatting the storage of {self.name}")
                self._format(command)
            report(f"starting {self.name}")
            self._process = self._run([*command, *self._java_options, "kafka.Kafka", str(self._server_properties)])
            atexit.register(self.stop)
            self._wait_until_it_answers(timeout_s)
        except BaseException:
            self.stop()
            raise
        return self

    def check(self) -> None:
        """Raise SetupError, in one sentence with its last error, if it has ended without `stop()` or `kill()`."""
        if self._process and self._process.poll() is not None:
            raise self._failure(self._process.returncode)

    def stop(self) -> None:
        """Stop it in good order, and delete a scratch directory; does nothing if it does not run."""
        self._end(in_good_order=not self._scratch)
        if self._scratch and self._data:
            shutil.rmtree(self._data, ignore_errors=True)
            self._data = None
        atexit.unregister(self.stop)

    def kill(self) -> None:
        """Kill it as `kill -9` does; its data stays, and `start()` takes it up again."""
        self._end(in_good_order=False)

    def restart(self) -> None:
        """Stop it in good order, if it runs, and start it again on the same port and data."""
        self._end(in_good_order=True)
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Broker {self.name} {self.bootstrap} {'running' if self.pid else 'stopped'} {self._data or 'scratch'}>"

    @property
    def _server_properties(self) -> Path:
        return self.data / "server.properties"

    def _prepare(self) -> dict[str, str]:
        """Claim directory and ports, write the settings; returns them."""
        directory.claim(self.data)
        if not self._controller_port:
            self.log.unlink(missing_ok=True)
        self.port = self.port or free_port()
        self._controller_port = self._controller_port or free_port()
        require_free(self.port, f"Kafka ({self.name})")
        require_free(self._controller_port, f"Kafka's controller ({self.name})")
        logs = directory.kafka_logs(self.data)
        properties = server_properties(self.port, self._controller_port, logs, self.settings)
        try:
            self._server_properties.write_text(to_text(properties))
        except OSError as error:
            raise directory.unusable(self.data, error) from error
        return properties

    def _format(self, command: list[str]) -> None:
        arguments = ["format", "--cluster-id", directory.new_cluster_id(), "--config", str(self._server_properties)]
        short_lived = "-XX:TieredStopAtLevel=1"  # over before optimised code would pay
        process = self._run([command[0], short_lived, *command[1:], "kafka.tools.StorageTool", *arguments])
        if process.wait():
            raise self._failure(process.returncode)

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            self._run_began_at = log.tell()
            return spawn(command, log)

    def _wait_until_it_answers(self, timeout_s: float) -> None:
        """Wait until Kafka names itself in its metadata, which it does when it is registered and takes requests."""
        end = time.monotonic() + timeout_s
        patience = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
        client = AdminClient({"bootstrap.servers": self.bootstrap, **patience})
        while time.monotonic() < end:
            self.check()
            try:
                if client.list_topics(timeout=0.5).brokers:
                    return
            except KafkaException:
                pass  # not listening yet: that it ended is noticed above
        raise SetupError(f"Kafka ({self.name}) did not answer on {self.bootstrap} within {timeout_s:g} s; see {self.log}.")

    def _failure(self, status: int) -> SetupError:
        with self.log.open("rb") as log:
            log.seek(self._run_began_at)
            output = log.read().decode(errors="replace")
        # on a full disk the log cannot tell either
        why = f"the disk of {self.data} is full." if directory.disk_is_full(self.data) else explain(output)
        return SetupError(f"Kafka ({self.name}) ended with status {status}: {why}")

    def _end(self, in_good_order: bool) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        if in_good_order:
            process.terminate()
            try:
                process.wait(_GOOD_ORDER_S)
                return
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        process.wait()
