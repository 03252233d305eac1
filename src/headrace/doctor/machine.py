"""Checks of this machine: versions of Python packages, Java, jars, listener addresses."""

from __future__ import annotations

import errno
import os
import platform
import re
import socket
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from headrace import __version__
from headrace.doctor.finding import Finding, ok, warning, wrong
from headrace.errors import ConfigError, SetupError
from headrace.jvm.jars import Conf, directory, home
from headrace.jvm.java import find_java
from headrace.runtime.listeners import ListenerAddress
from headrace.spark.optional_jars import requested_formats

_PINNED = re.compile(r"([\w.-]+)==([\w.]+)(?:;|$)")
_PLUGIN_PATH = "plugin.path"
_OF_EVERY_WORKER: tuple[Conf, ...] = ("spark", "compiler")


def versions() -> Iterator[Finding]:
    """Whether the Python packages that headrace pins are installed in those versions."""
    yield ok("version", f"headrace {__version__}, Python {platform.python_version()}")
    for requirement in metadata.requires("headrace") or ():
        pinned = _PINNED.match(requirement.replace(" ", ""))
        if pinned is None or "extra==" in requirement.replace(" ", ""):
            continue
        name, version = pinned.groups()
        yield _version(name, version)


def _version(name: str, version: str) -> Finding:
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return wrong("version", f"{name} is not installed", f"install {name}=={version}")
    if installed == version:
        return ok("version", f"{name} {version}")
    return wrong("version", f"{name} is of version {installed}, headrace needs {version}", f"install {name}=={version}")


def java() -> Finding:
    """Whether there is a recent enough Java; if not, the finding tells how to install one."""
    try:
        java = find_java()
    except SetupError as error:
        message, _, remedy = str(error).rstrip(".").partition("; ")
        return wrong("java", message, remedy)
    return ok("java", f"Java {java.version} ({java.program})")


def jars(props: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the jars that a worker with these properties needs are in the cache and not damaged.

    Every worker needs those of Spark; with `plugin.path` those of Kafka Connect, and with `spark.headrace.formats` the formats'.
    """
    needed: list[Conf] = [*_OF_EVERY_WORKER]
    if props.get(_PLUGIN_PATH):
        needed.append("connect")
    try:
        needed.extend(extra.jars for extra in requested_formats(props))
    except ConfigError as error:
        yield wrong("config", error.message.rstrip("."), "correct it in the worker file")
    missing: list[Conf] = [conf for conf in needed if not directory(conf).is_dir()]
    if missing and not _can_write(directory(missing[0])):
        why = f"the jars of {', '.join(missing)} are not in {home()}, and it cannot be written"
        yield wrong("jars", why, "set HEADRACE_HOME to a directory that can, or give this user the permission")
    elif missing:
        # What plugins and formats need is fetched with --all only.
        option = "" if set(missing).issubset(_OF_EVERY_WORKER) else " --all"
        yield warning(
            "jars",
            f"the jars of {', '.join(missing)} are not in {home()} yet, so the first start fetches them",
            f"run `headrace jars{option}` where there is a network, or `headrace jars import` with a bundle of "
            f"`headrace jars bundle{option}`",
        )
    for conf in needed:
        broken = [jar.name for jar in sorted(directory(conf).glob("*.jar")) if not zipfile.is_zipfile(jar)]
        if broken:
            yield wrong("jars", f"{', '.join(broken)} in {directory(conf)} is no archive", f"delete {directory(conf)}")
        elif conf not in missing:
            yield ok("jars", f"the jars of {conf} are in {directory(conf)}")


def _can_write(target: Path) -> bool:
    """Whether a directory can be made, by a look only: what is there of its path is a directory that may be written."""
    there = next(parent for parent in target.parents if os.path.lexists(parent))
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def ports(listeners: Sequence[ListenerAddress]) -> Iterator[Finding]:
    """Whether each address of the REST server can be listened on; port 0 always can."""
    for listener in listeners:
        address = f"{listener.host or '*'}:{listener.port}"
        try:
            _listen(listener)
        except socket.gaierror:
            yield wrong("port", f"the host of {address} is not known here", "put an address of this machine into `listeners`")
        except OSError as error:
            yield _cannot_listen(address, error)
        else:
            yield ok("port", f"{address} can be listened on")


def _cannot_listen(address: str, error: OSError) -> Finding:
    if error.errno == errno.EADDRINUSE:
        return wrong("port", f"{address} is in use", "stop what uses it, or choose another port in `listeners`")
    if error.errno == errno.EADDRNOTAVAIL:
        return wrong("port", f"{address} is no address of this machine", "put one that is into `listeners`")
    return wrong("port", f"{address} cannot be listened on: {error.strerror}", "choose another port in `listeners`")


def _listen(listener: ListenerAddress) -> None:
    """Bind the address as the REST server does, and release it. Raises OSError."""
    family, kind, _, _, address = socket.getaddrinfo(
        listener.host or None, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        probe.listen(1)
