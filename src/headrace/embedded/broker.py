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
_STOP_TIMEOUT_S = 30
"""How long a broker may take to stop gracefully before it is killed."""


class Broker:
    """One Kafka node, broker and controller in one, on 127.0.0.1 only; a context manager that starts and stops it.

    port: the port to listen on; 0 picks a free one at the first start, and `restart()` keeps it.
    data: its directory, created if absent; the data of an earlier broker in it is used. None: a temporary directory,
        deleted by `stop()`.
    settings: `server.properties` of Kafka, which override those of `headrace.embedded.settings`.
    name: its name in messages.
    java_options: additional options of the JVM.

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
        self._log_start = 0

    @property
    def data(self) -> Path:
        """The data directory; a temporary one is created on first access."""
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
        """Start it and wait until it accepts requests; does nothing if it runs.

        `progress` is called with a few words about each step. After `kill()` Kafka recovers its logs first, which takes a minute
        with hundreds of partitions on a busy machine. Raises SetupError, in one sentence, if Java is missing, a port is in use,
        the data directory cannot be used or belongs to another node, or Kafka ends or does not answer in time.
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
            self._wait_until_ready(timeout_s)
        except BaseException:
            self.stop()
            raise
        return self

    def check(self) -> None:
        """Raise SetupError, with its last error in one sentence, if it has ended without `stop()` or `kill()`."""
        if self._process and self._process.poll() is not None:
            raise self._failure(self._process.returncode)

    def stop(self) -> None:
        """Stop it gracefully, and delete a temporary directory; does nothing if it does not run."""
        self._end(gracefully=not self._scratch)
        if self._scratch and self._data:
            shutil.rmtree(self._data, ignore_errors=True)
            self._data = None
        atexit.unregister(self.stop)

    def kill(self) -> None:
        """Kill it like `kill -9`; its data is kept, and used by `start()`."""
        self._end(gracefully=False)

    def restart(self) -> None:
        """Stop it gracefully, if it runs, and start it again with the same port and data."""
        self._end(gracefully=True)
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
        """Check the directory and ports, write the settings; returns them."""
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
        short_lived = "-XX:TieredStopAtLevel=1"  # too short to benefit from optimised code
        process = self._run([command[0], short_lived, *command[1:], "kafka.tools.StorageTool", *arguments])
        if process.wait():
            raise self._failure(process.returncode)

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            return spawn(command, log)

    def _wait_until_ready(self, timeout_s: float) -> None:
        """Wait until the broker is in its own metadata: then it is registered and accepts requests."""
        end = time.monotonic() + timeout_s
        client_settings = {"log_level": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
        client = AdminClient({"bootstrap.servers": self.bootstrap, **client_settings})
        while time.monotonic() < end:
            self.check()
            try:
                if client.list_topics(timeout=0.5).brokers:
                    return
            except KafkaException:
                pass  # not listening yet; `check` raises if it has ended
        raise SetupError(f"Kafka ({self.name}) did not answer on {self.bootstrap} within {timeout_s:g} s; see {self.log}.")

    def _failure(self, status: int) -> SetupError:
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            output = log.read().decode(errors="replace")
        # on a full disk the log has no error either
        why = f"the disk of {self.data} is full." if directory.disk_is_full(self.data) else explain(output)
        return SetupError(f"Kafka ({self.name}) ended with status {status}: {why}")

    def _end(self, gracefully: bool) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        if gracefully:
            process.terminate()
            try:
                process.wait(_STOP_TIMEOUT_S)
                return
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        process.wait()
