"""A real PostgreSQL server, from binaries that Maven has, as a child process."""

from __future__ import annotations

import os
import platform
import pwd
import shutil
import signal
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from headrace.embedded.ports import free_port
from headrace.jvm.jars import Conf, jars
from tests.support import wait_until

_CONFS: dict[tuple[str, str], Conf] = {
    ("Linux", "x86_64"): "postgres-linux-amd64",
    ("Linux", "aarch64"): "postgres-linux-arm64v8",
    ("Darwin", "x86_64"): "postgres-darwin-amd64",
    ("Darwin", "arm64"): "postgres-darwin-arm64v8",
}


class Postgres:
    """A server with one empty database; a context manager that starts and stops it.

    PostgreSQL refuses to run as root: then it runs as the user `nobody`.
    """

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="headrace-postgres-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self._home, nobody.pw_uid, nobody.pw_gid)
        self._port = free_port()
        self._process: subprocess.Popen[Any] | None = None

    @property
    def url(self) -> str:
        """For JDBC."""
        return f"jdbc:postgresql://127.0.0.1:{self._port}/postgres"

    @property
    def port(self) -> int:
        """Of 127.0.0.1."""
        return self._port

    def __enter__(self) -> Self:
        binaries = self._home / "postgres"
        with zipfile.ZipFile(jars(_CONFS[platform.system(), platform.machine()])[0]) as jar:
            archive = next(name for name in jar.namelist() if name.endswith(".txz"))
            with jar.open(archive) as packed, tarfile.open(fileobj=packed, mode="r:xz") as tar:
                tar.extractall(binaries, filter="data")
        data = self._home / "data"
        made = [binaries / "bin/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"]
        subprocess.run(made, check=True, capture_output=True, cwd=self._home, **self._as)
        self.start()
        return self

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        log = (self._home / "log").open("ab")
        command = [self._home / "postgres/bin/postgres", "-D", self._home / "data", "-p", str(self._port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-k", self._home, "-c", "fsync=off", "-c", "wal_level=logical"]
        command += ["-c", "max_replication_slots=50", "-c", "max_wal_senders=50"]  # a connector of Debezium leaves its slot
        self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._home, **self._as)
        wait_until(self._is_ready, 180, "PostgreSQL to take connections")

    def _is_ready(self) -> bool:
        status = self._home / "data/postmaster.pid"
        return status.is_file() and any("ready" in line for line in status.read_text().splitlines()[-1:])  # empty at first

    def stop(self) -> None:
        """Stop it, at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(180)
            self._process = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)
