"""The jars of the cache as one file, for machines without a network: `manifest.json`, then the files, in a plain tar.

The manifest has headrace's version, and of each file the SHA-256, Maven's coordinates and the licences, which a bill of materials
on the other machine then has, too. A bundle is equal, byte by byte, if what is in it is.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from headrace import __version__
from headrace.errors import SetupError
from headrace.jvm.inventory import JarDescription, coordinates, keep_imported, sha256
from headrace.jvm.jars import Conf, Progress, claimed, connect_classpath, extension_jar, home, jars

_MANIFEST = "manifest.json"


def write(file: Path, confs: Iterable[Conf], progress: Progress) -> int:
    """Write a bundle of these configurations of ivy.xml and of headrace's own classes; returns how many jars it has.

    What is missing is fetched, or compiled, first. Raises SetupError.
    """
    files: dict[Path, JarDescription] = {}
    for conf in confs:
        retrieved, known = jars(conf, progress), coordinates(conf)
        files |= {path: known.get(path.name) or JarDescription.of_file(path.name) for path in retrieved}
    for path in (extension_jar(progress), connect_classpath(progress)[-1]):
        files[path] = JarDescription("io.headrace", path.stem.partition("-")[0], __version__, ("Apache-2.0",))
    names = {path.relative_to(home()).as_posix(): path for path in files}
    progress("computing checksums")
    entries = {name: {"sha256": sha256(path)} | files[path]._asdict() for name, path in sorted(names.items())}
    manifest = {"headrace": __version__, "files": entries}
    text = json.dumps(manifest, indent=1).encode()
    try:
        with tarfile.open(file, "w") as tar:
            tar.addfile(_entry(_MANIFEST, len(text)), io.BytesIO(text))
            for name in sorted(names):
                progress(f"packing {names[name].name}")
                with names[name].open("rb") as content:
                    tar.addfile(_entry(name, names[name].stat().st_size), content)
    except OSError as error:
        raise SetupError(f"The bundle {file} cannot be written: {error.strerror or error}.") from error
    return len(names)


def read(file: Path, progress: Progress) -> int:
    """Put the files of a bundle that are not in the cache into it, each only if its checksum is right; returns how many it has.

    Raises SetupError if the bundle cannot be read, was changed, or is of another version, whose jars nobody would look for, or if
    the cache cannot be written.
    """
    try:
        with tarfile.open(file, "r:") as tar:
            manifest = _manifest(tar, file)
            groups: dict[PurePosixPath, list[str]] = {}
            for name in manifest:
                groups.setdefault(_unit(PurePosixPath(name), file), []).append(name)
            for unit, names in groups.items():
                progress(f"unpacking {unit.name}")
                _unpack(tar, unit, {name: manifest[name][0] for name in names}, file)
        with _writing():
            keep_imported({PurePosixPath(name).name: about for name, (_, about) in manifest.items()})
    except (tarfile.TarError, OSError, KeyError, ValueError) as error:
        raise SetupError(f"The bundle {file} cannot be read: {error}. Write it again with `headrace jars bundle`.") from error
    return len(manifest)


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o644
    return entry


def _manifest(tar: tarfile.TarFile, file: Path) -> dict[str, tuple[str, JarDescription]]:
    """Checksum and coordinates of each file. Raises SetupError, KeyError, ValueError."""
    content = json.loads(_bytes(tar, _MANIFEST))
    version = content.get("headrace") if isinstance(content, dict) else None
    if isinstance(version, str) and version != __version__:
        raise SetupError(f"The bundle {file} is of headrace {version}, and this is {__version__}; write one with this version.")
    try:
        return {name: (str(entry["sha256"]), JarDescription.of_json(entry)) for name, entry in content["files"].items()}
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"its {_MANIFEST} does not list files with their checksums") from None


def _unit(name: PurePosixPath, file: Path) -> PurePosixPath:
    """An entry of the cache: the directory of a configuration, or one of headrace's jars."""
    if name.parts[0] != "jars" or not 2 <= len(name.parts) <= 3 or ".." in name.parts:
        raise SetupError(f"The bundle {file} names '{name}', which is no place of a jar; write it again.")
    return PurePosixPath(*name.parts[:2])


def _unpack(tar: tarfile.TarFile, unit: PurePosixPath, names: dict[str, str], file: Path) -> None:
    target = home() / unit
    if target.exists():
        return
    with claimed(target, None) as partial:
        if partial is None:
            return
        for name, expected in names.items():
            content = _bytes(tar, name)
            if hashlib.sha256(content).hexdigest() != expected:
                shutil.rmtree(partial, ignore_errors=True)
                raise SetupError(f"In the bundle {file} '{name}' has another checksum than its manifest says; copy it again.")
            place = partial.joinpath(*PurePosixPath(name).parts[2:])
            with _writing():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)


@contextmanager
def _writing() -> Iterator[None]:
    """Context in which the cache is written: what fails there, as on a full disk, is no fault of the bundle."""
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"The cache directory {home()} cannot be written ({error.strerror}); make room, or set HEADRACE_HOME to another one."
        ) from error


def _bytes(tar: tarfile.TarFile, name: str) -> bytes:
    content = tar.extractfile(name)
    if content is None:
        raise KeyError(f"{name} is no file")
    return content.read()
