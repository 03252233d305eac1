"""Starts programs that end with this process, however it ends.

On Linux the kernel kills them (`prctl(PR_SET_PDEATHSIG)`), even after `kill -9` of this process. The signal depends on the
*thread* that started the child, not on the process; so one thread, which lives as long as the process, starts all of them. On
other systems the caller must stop them at exit.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
_requests: queue.SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]]]
_requests = queue.SimpleQueue()
_starting = threading.Lock()
_spawner: threading.Thread | None = None


def spawn(command: list[str], output: BinaryIO, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a program with stdout and stderr going to a file; raises OSError if it cannot be started.

    It has its own process group, so that Ctrl-C at a terminal reaches only this process, which then stops it gracefully.
    """
    parent = os.getpid()

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            process_group=0,
            preexec_fn=(lambda: _die_with(parent)) if _libc else None,
        )

    started: Future[subprocess.Popen[bytes]] = Future()
    _requests.put((start, started))
    _ensure_spawner()
    return started.result()


def _die_with(parent: int) -> None:
    """In the child, before the program starts: request to be killed with the parent; exit if the parent has ended already."""
    assert _libc
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _ensure_spawner() -> None:
    """Start the spawner thread if it does not run; a forked process starts its own."""
    global _spawner
    with _starting:
        if _spawner is None or not _spawner.is_alive():
            _spawner = threading.Thread(target=_serve, name="headrace-spawner", daemon=True)
            _spawner.start()


def _serve() -> None:
    while True:
        start, started = _requests.get()
        try:
            started.set_result(start())
        except BaseException as error:
            started.set_exception(error)
