"""`headrace plugins add`: a plugin from a Maven repository, or from a file, into a directory of `plugin.path`."""

from __future__ import annotations

import filecmp
import gzip
import hashlib
import lzma
import re
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.plugins.look import DEFAULT_PATH
from headrace.cli.progress import progress
from headrace.errors import BadRequestError, SetupError
from headrace.jvm.artifacts import Coordinates, fetch

_CHUNK = 1 << 20
_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError, struct.error,
    OverflowError,
)  # fmt: skip
"""What Python's readers of archives raise for damaged ones; a RuntimeError also for a bit that says it is encrypted."""
_ARCHIVES = re.compile(r"\.(tar\.gz|tgz|zip|jar)$")


def add(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT", help="Archives: files, or Maven coordinates group:artifact:version[:extension[:classifier]]."
        ),
    ],
    path: Annotated[Path, typer.Option(metavar="DIR", help="The directory of `plugin.path`.")] = DEFAULT_PATH,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The plugin's own directory; by default the archive's name.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(metavar="HEX", help="What the (one) archive's checksum has to be.")] = None,
) -> None:
    """Put a plugin into a directory of its own below DIR: all of WHAT together, tar.gz and zip archives unpacked.

    From a repository each artifact comes alone, without what it depends on, as archives of plugins hold that; its checksum in
    the repository is verified. `HEADRACE_IVY_SETTINGS` can name an Ivy settings file with a mirror. The checksum of each archive
    is printed.
    """
    if sha256 is not None and len(what) > 1:
        raise typer.BadParameter("goes with one archive.", param_hint="'--sha256'")
    if name is not None and (name in (".", "..") or Path(name).name != name):
        raise typer.BadParameter("has to be one name, without a path.", param_hint="'--name'")
    try:
        target = _added(what, path, name, sha256)
    except OSError as error:  # of the directory, or of an archive that may not be read
        raise SetupError(f"The plugin cannot be added to {path}: {error}.") from error
    typer.echo(f"added {target}")


def _added(what: Sequence[str], path: Path, name: str | None, sha256: str | None) -> Path:
    """Put the archives into a directory of their own; returns it. Raises OSError where files cannot be read or written."""
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path, prefix=".adding-") as scratch, progress("fetching the plugin") as report:
        archives = [_archive(text, Path(scratch), report) for text in what]
        names = [archive.name for archive in archives]
        if len(set(names)) < len(names):  # one would be in place of the other
            raise BadRequestError(f"Two of the archives are called {max(names, key=names.count)}; nothing was added.")
        for archive in archives:
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            if sha256 is not None and digest != sha256.lower():
                raise BadRequestError(f"The SHA-256 checksum of {archive.name} is {digest}, not {sha256}; nothing was added.")
            typer.echo(f"{digest}  {archive.name}")
        target = path / (name or _ARCHIVES.sub("", archives[0].name))
        if target.exists():
            raise BadRequestError(f"{target} is there already; remove it first, or choose another --name.")
        _together(archives, Path(scratch)).rename(target)
    return target


def _together(archives: Sequence[Path], scratch: Path) -> Path:
    """A directory with the content of all archives. Raises BadRequestError if two of them have different files of one path."""
    plugin, origins = scratch / "plugin", dict[Path, str]()
    plugin.mkdir()
    for number, archive in enumerate(archives):
        unpacked = scratch / f"unpacked-{number}"
        unpacked.mkdir()
        _unpack(archive, unpacked)
        for file in sorted(each for each in unpacked.rglob("*") if each.is_file() or each.is_symlink()):
            place = file.relative_to(unpacked)
            if place in origins and not filecmp.cmp(file, plugin / place, shallow=False):
                raise BadRequestError(
                    f"{origins[place]} and {archive.name} have different files {place}; nothing was added. "
                    "Add them one by one, as plugins of their own."
                )
            origins.setdefault(place, archive.name)
            (plugin / place).parent.mkdir(parents=True, exist_ok=True)
            file.replace(plugin / place)
    return plugin


def _archive(text: str, scratch: Path, report: Callable[[str], None]) -> Path:
    """The file that is meant: of this name, or fetched."""
    file = Path(text)
    coordinates = None if file.is_file() else Coordinates.parse(text)
    if coordinates is not None:
        return fetch(coordinates, scratch, report)
    if not file.is_file():
        raise BadRequestError(f"{text} is no file, and not of the form group:artifact:version[:extension[:classifier]].")
    if not _ARCHIVES.search(file.name):
        raise BadRequestError(f"{text} is no plugin: expected a file that ends with .jar, .zip, .tar.gz or .tgz.")
    return file


def _unpack(archive: Path, into: Path) -> None:
    """The content of an archive of jars; a jar as it is. Raises SetupError for one that is damaged anywhere."""
    try:
        if archive.suffix in (".jar", ".zip"):
            with zipfile.ZipFile(archive) as packed:
                damaged = packed.testzip()
                if damaged is not None:
                    raise zipfile.BadZipFile(f"Bad CRC-32 for file {damaged!r}")
                if archive.suffix == ".zip":
                    packed.extractall(into)
                else:
                    shutil.copy(archive, into)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(into, filter="data")
            with gzip.open(archive) as whole:  # a tar ends before the checksum of its gzip
                while whole.read(_CHUNK):
                    pass
    except _DAMAGED as error:
        raise SetupError(f"The archive {archive.name} is broken: {error or type(error).__name__}.") from error
