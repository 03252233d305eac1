"""Kafka Connect's plugins in the locations of `plugin.path` (KIP-898): scanned once by a separate JVM, and cached.

The result is kept in `$HEADRACE_HOME/plugins`, under a name that depends on every file of every location (size and modification
time), the discovery mode and headrace's version; where that cannot be written, as in a container, each process scans for itself.
A worker without `plugin.path` fetches and starts nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import structlog

from headrace.errors import ConnectError, SetupError
from headrace.jvm.jars import Progress, can_keep, claimed, connect_classpath, home, wheel_jar
from headrace.jvm.java import find_java

log = structlog.get_logger(__name__)

_ARCHIVES = (".jar", ".zip")
_LOGGING = ("slf4j-api", "log4j-api", "log4j-core", "log4j-1.2-api")
"""What plugins may log with and not bring: a worker of Kafka Connect has it."""
_LIMIT_S = 900
"""Time-out of a scan: reading every class of large archives takes minutes on a busy machine."""
_NOT_KEPT: dict[str, dict[str, Any]] = {}
"""The scans of this process for which there is no cache: a worker asks twice, for its config providers first."""


@dataclass(frozen=True)
class ScannedPlugin:
    """A class in a location of `plugin.path`."""

    class_name: str
    """Full name, as in `connector.class`."""
    kind: str
    """A value of `headrace.plugins.Kind`."""
    version: str
    """The version of the class; `undefined` if it has none."""
    location: str
    """URL of the directory or archive."""
    path: str
    """The same as a path."""
    aliases: tuple[str, ...]
    """Simple class name, and the same without its suffix (`Connector` …)."""
    manifest: bool
    """Whether `META-INF/services` names it, so that `plugin.discovery=service_load` finds it, too."""


@dataclass(frozen=True)
class Problem:
    """Why a location, or a class in it, cannot be used."""

    path: str
    """Of the location."""
    text: str
    """The reason, without the location."""

    def __str__(self) -> str:
        return f"Plugin location {self.path}: {self.text}."


@dataclass(frozen=True)
class Scan:
    """The result of a scan of a `plugin.path`."""

    plugins: tuple[ScannedPlugin, ...] = ()
    """Ordered by class name; several versions of a class are several plugins."""
    locations: Mapping[str, Sequence[str]] | None = None
    """URL of each location: URLs of the archives, or of the directory, that its classes are loaded from."""
    problems: tuple[Problem, ...] = ()
    """Locations and classes that cannot be used."""


def scan(plugin_path: Sequence[str], discovery: str, progress: Progress | None = None) -> Scan:
    """Find the plugins in these directories and archives.

    discovery: a value of `plugin.discovery`; with `hybrid_fail` a class without manifest is an error, with `hybrid_warn` a line
    in the log. Raises ConnectError for that, SetupError if the scan itself cannot run. Missing elements of the path are logged
    and skipped, as in Kafka Connect.
    """
    location_paths = locations(plugin_path)
    if not location_paths:
        return Scan()
    scanned = _cached(location_paths, discovery.lower(), progress)
    plugins = tuple(ScannedPlugin(**{**plugin, "aliases": tuple(plugin["aliases"])}) for plugin in scanned["plugins"])
    _check_manifests(plugins, discovery.lower())
    return Scan(plugins, scanned["locations"], tuple(Problem(**problem) for problem in scanned["problems"]))


def locations(plugin_path: Sequence[str]) -> list[Path]:
    """The locations of a `plugin.path`: the directories and archives in its directories, and archives that it names itself."""
    directories: list[Path] = []
    for element in plugin_path:
        path = Path(element).absolute()
        if path.is_dir():
            directories += sorted(
                child for child in path.iterdir() if child.is_dir() or child.suffix.lower() in (*_ARCHIVES, ".class")
            )
        elif path.suffix.lower() in _ARCHIVES and path.is_file():
            directories.append(path)
        else:
            log.warning("plugins.path.ignored", path=str(path), cause="no such directory or archive")
    return list(dict.fromkeys(directories))


def ask_in_own_jvm(requests: Sequence[tuple[str, Mapping[str, Any]]], progress: Progress | None = None) -> Any:
    """Run requests in a host of plugins in a separate JVM, which ends then; returns the response to the last one.

    Raises ConnectError for an exception of a plugin, SetupError if the JVM fails.
    """
    class_path = os.pathsep.join(map(str, [*connect_classpath(progress), *map(wheel_jar, _LOGGING)]))
    logging = f"-Dlog4j2.configurationFile=file:{files('headrace.spark') / 'log4j2.properties'}"
    command = [str(find_java().program), logging, "-cp", class_path, "io.headrace.connect.Main"]
    lines_in = "".join(f"{method}\n{json.dumps(request)}\n" for method, request in requests)
    try:
        process = subprocess.run(  # plugins may print what is no UTF-8
            command, input=lines_in, capture_output=True, encoding="utf-8", errors="replace", timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise SetupError(f"The scan of plugin.path was not finished within {_LIMIT_S} s.") from None
    lines = process.stdout.strip().splitlines()
    if process.returncode or not lines:
        lines = [line for line in process.stderr.splitlines() if not line.startswith("SLF4J")]
        raise SetupError(f"Java could not look at the plugins: {lines[0] if lines else f'status {process.returncode}'}")
    scanned = json.loads(lines[-1])
    if "error" in scanned:
        raise ConnectError(str(scanned["error"]["message"]))
    return scanned["answer"]


def _cached(location_paths: Sequence[Path], discovery: str, progress: Progress | None) -> dict[str, Any]:
    host = connect_classpath(progress)[-1].name
    # Whole seconds: the layers of an image that was pushed have no fractions, and the scan of its build is to be found there.
    file_states = [
        f"{file} {status.st_size} {int(status.st_mtime)}" for place in location_paths for file, status in _files(place)
    ]
    digest = hashlib.sha256("\0".join([host, discovery, *map(str, location_paths), *file_states]).encode()).hexdigest()[:16]
    target = home() / "plugins" / f"{digest}.json"
    if not target.is_file():
        if not can_keep(target):
            if target.name not in _NOT_KEPT:
                log.info("plugins.scan.not-kept", directory=str(target.parent), meaning="each start scans plugin.path")
                _NOT_KEPT[target.name] = _scan_in_jvm(location_paths, discovery)
            return _NOT_KEPT[target.name]
        with claimed(target, progress) as partial:
            if partial:
                (progress or _ignore)("looking for plugins")
                partial.write_text(json.dumps(_scan_in_jvm(location_paths, discovery)), encoding="utf-8")
    return json.loads(target.read_text(encoding="utf-8"))


def _scan_in_jvm(location_paths: Sequence[Path], discovery: str) -> dict[str, Any]:
    response = ask_in_own_jvm([("scan", {"locations": list(map(str, location_paths)), "discovery": discovery})])
    for plugin in response["plugins"]:
        plugin["class_name"], plugin["kind"] = plugin.pop("class"), plugin.pop("type")
    problems = [{"path": problem["location"], "text": problem["text"]} for problem in response["problems"]]
    return {"plugins": response["plugins"], "locations": response["locations"], "problems": problems}


def _files(place: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file():
            yield file, file.stat()


def _check_manifests(plugins: Sequence[ScannedPlugin], discovery: str) -> None:
    names = sorted({plugin.class_name for plugin in plugins if not plugin.manifest})
    if not names or discovery not in ("hybrid_warn", "hybrid_fail"):
        return
    text = (
        "One or more plugins are missing ServiceLoader manifests and may not be usable with plugin.discovery=service_load: "
        f"{', '.join(names)}. Set plugin.discovery=only_scan to use them without a manifest."
    )
    if discovery == "hybrid_fail":
        raise ConnectError(text)
    log.warning("plugins.without-manifest", classes=names)


def _ignore(_: str) -> None:
    """Ignore progress."""
