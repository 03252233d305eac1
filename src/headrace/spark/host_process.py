"""A host of plugins in its own process with its own heap (`connector.engine=process`), one for each connector.

A plugin that runs out of memory, or ends its JVM, does not affect others. The process ends with the last connector or task that
uses it, and with the worker.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
import subprocess
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

import structlog

from headrace.errors import ConnectError, SetupError
from headrace.jvm.jars import connect_classpath, wheel_jar
from headrace.jvm.java import find_java
from headrace.jvm.output import pass_line
from headrace.spark import plugin_log_levels
from headrace.spark.connect_host import ConnectHost, HostListener, PluginError, PluginHost

log = structlog.get_logger(__name__)

_LOGGING = ("slf4j-api", "log4j-api", "log4j-core", "log4j-1.2-api", "log4j-slf4j2-impl")
_START_S = 60.0
_END_S = 5.0
_MAX_LINES = 20
_FAILED = "org.apache.kafka.connect.errors.ConnectException"


@dataclass(frozen=True)
class ProcessSettings:
    """The settings of a connector's process."""

    connector: str
    """Its name."""
    heap: str
    """The maximum heap, in the format of `-Xmx`."""
    advice: str = "see connector.engine.heap"
    """The error sentence for a heap of this size that was too small."""


class ProcessHost(PluginHost):
    """One process, from its start to its end."""

    def __init__(self, settings: ProcessSettings, driver: ConnectHost) -> None:
        """driver: the host with the plugin scan, in Spark's JVM, which reads the records.

        Raises SetupError if Java does not start.
        """
        self.settings, self._driver = settings, driver
        self.users = 0
        self._secret = secrets.token_hex(16)
        self._ids: set[str] = set()
        self._read_here: set[str] = set()
        self._lines: deque[str] = deque(maxlen=_MAX_LINES)
        self._idle: list[socket.socket] = []
        self._guard = threading.Lock()
        self._port_known = threading.Event()
        self._port = 0
        self._process = self._started()
        self.ask("plugins", **driver.scan)
        plugin_log_levels.follow(self, lambda name, level: self.ask("level", name=name, level=level))
        threading.Thread(target=self._follow, name=f"plugin-events-{settings.connector}", daemon=True).start()

    def _started(self) -> subprocess.Popen[str]:
        jars = [*connect_classpath(), *map(wheel_jar, _LOGGING)]
        command = [str(find_java().program), f"-Xmx{self.settings.heap}", "-XX:+ExitOnOutOfMemoryError"]
        command += [f"-Dlog4j2.configurationFile=file:{files('headrace.spark') / 'log4j2.properties'}"]
        command += ["-cp", os.pathsep.join(map(str, jars)), "io.headrace.connect.HostProcess"]
        # In its own process group: a terminal's Ctrl-C must only reach the worker, which needs the plugins until its tasks stop.
        pipe, output = subprocess.PIPE, subprocess.STDOUT
        process = subprocess.Popen(  # plugins may print what is no UTF-8
            command, stdin=pipe, stdout=pipe, stderr=output, encoding="utf-8", errors="replace", process_group=0
        )
        assert process.stdin and process.stdout
        process.stdin.write(self._secret + "\n")
        process.stdin.flush()
        name = f"plugin-output-{self.settings.connector}"
        threading.Thread(target=partial(self._read, process.stdout), name=name, daemon=True).start()
        if not self._port_known.wait(_START_S) or not self._port:
            process.kill()
            output = self._lines[-1] if self._lines else f"nothing within {_START_S:.0f} s"
            raise SetupError(f"The process of connector {self.settings.connector} did not start: {output}")
        return process

    def _read(self, lines: Iterator[str]) -> None:
        for line in lines:
            text = line.rstrip()
            if not self._port_known.is_set() and text.startswith("port "):
                self._port = int(text.removeprefix("port "))
                self._port_known.set()
                continue
            self._lines.append(text)
            pass_line(line.encode())
        self._port_known.set()

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def exchange(self, method: str, request: str) -> str:
        """The response to a request, both as JSON. Raises PluginError with the reason if the process has ended."""
        try:
            with self._connected() as connection:
                connection.sendall(b"\0" + _length_prefixed(method) + _length_prefixed(request))
                return _received(connection, *struct.unpack(">i", _received(connection, 4))).decode()
        except OSError as error:
            raise self._ended(error) from error

    @contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        with self._guard:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", self._port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(_length_prefixed(self._secret))
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._guard:
            self._idle.append(connection)

    def _ended(self, error: OSError) -> PluginError:
        try:
            status = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return self._error(f"it does not answer: {error}")
        memory = next((line for line in self._lines if "OutOfMemoryError" in line), None)
        if memory is not None:
            reason = memory[memory.index("java.lang.OutOfMemoryError") :] if "java.lang." in memory else memory
            return self._error(f"it was out of memory ({reason}); its heap is {self.settings.heap}, {self.settings.advice}")
        return self._error(f"it was killed by signal {-status}" if status < 0 else f"it has called System.exit({status})")

    def _error(self, reason: str) -> PluginError:
        message = f"The process of connector {self.settings.connector} has ended: {reason}"
        return PluginError({"class": _FAILED, "message": message, "trace": f"{_FAILED}: {message}\n"})

    def listen(self, id: str, listener: HostListener) -> None:
        """Set the listener for a connector or task; it is also notified if the process ends."""
        super().listen(id, listener)
        with self._guard:
            self._ids.add(id)

    def forget(self, id: str) -> None:
        """Remove the listener."""
        super().forget(id)
        with self._guard:
            self._ids.discard(id)
        if id in self._read_here:
            self._read_here.discard(id)
            self._driver.java.forget(id)

    def read_rows_here(self, task: str) -> None:
        """Prepare Spark for reading the records of a source task of this host."""
        self._driver.java.remote(task, self._port, self._secret)
        self._read_here.add(task)

    def _follow(self) -> None:
        try:
            self.follow()
        except ConnectError as error:
            with self._guard:
                ids, users = list(self._ids), self.users
            if users:
                log.error("plugins.process.ended", connector=self.settings.connector, cause=str(error))
            for id in ids:
                self.failed(id, getattr(error, "java_trace", str(error)))

    def end(self) -> None:
        """End the process."""
        plugin_log_levels.forget(self)
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def release(self) -> None:
        """Release the process; the last release ends it."""
        with _LISTED:
            self.users -= 1
            if self.users:
                return
            if _PROCESSES.get(self.settings) is self:
                del _PROCESSES[self.settings]
        self.end()


_PROCESSES: dict[ProcessSettings, ProcessHost] = {}
_LISTED = threading.Lock()
_STARTS: dict[str, threading.Lock] = {}
"""Held, by connector, while its process starts, which takes seconds: nobody else waits for that."""


def acquire(settings: ProcessSettings, driver: ConnectHost) -> ProcessHost:
    """Acquire the process of a connector, started if there is none; it runs until each user has called `release`.

    Raises SetupError if it does not start.
    """
    with _LISTED:
        start = _STARTS.setdefault(settings.connector, threading.Lock())
    with start:
        process = _acquired(settings)
        if process is None:
            process = ProcessHost(settings, driver)
            process.users = 1
            with _LISTED:
                _PROCESSES[settings] = process
            log.info("plugins.process.started", connector=settings.connector, heap=settings.heap)
        return process


def _acquired(settings: ProcessSettings) -> ProcessHost | None:
    with _LISTED:
        process = _PROCESSES.get(settings)
        if process is None or not process.alive:
            return None
        process.users += 1
        return process


def running(connector: str) -> list[ProcessHost]:
    """The processes of a connector that have not ended."""
    with _LISTED:
        return [host for settings, host in _PROCESSES.items() if settings.connector == connector and host.alive]


def _length_prefixed(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


def _received(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionResetError("the connection is closed")
        data += part
    return bytes(data)
