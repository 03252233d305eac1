"""Start a program that does not outlive this process, however this process ends.

On Linux the kernel kills it (`prctl(PR_SET_PDEATHSIG)`), even after `kill -9` of this process. The kernel watches the
*thread* that started the child, not the process; so one thread that lives as long as the process starts them all. Elsewhere
the caller must stop it at exit.
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

    It has a process group of its own, so that Ctrl-C at a terminal reaches only this process, which then stops it in good order.
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

    answer: Future[subprocess.Popen[bytes]] = Future()
    _requests.put((start, answer))
    _ensure_spawner()
    return answer.result()


def _die_with(parent: int) -> None:
    """In the child, before the program: ask to be killed with the parent; leave if it is gone already."""
    assert _libc
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _ensure_spawner() -> None:
    """Have the one thread run; a forked process starts its own."""
    global _spawner
    with _starting:
        if _spawner is None or not _spawner.is_alive():
            _spawner = threading.Thread(target=_serve, name="headrace-spawner", daemon=True)
            _spawner.start()


def _serve() -> None:
    while True:
        start, answer = _requests.get()
        try:
            answer.set_result(start())
        except BaseException as error:
            answer.set_exception(error)
