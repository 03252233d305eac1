"""`headrace plugins add` of files: damaged archives, and what cannot be added."""

from __future__ import annotations

import contextlib
import io
import os
import pwd
import random
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from headrace.cli.plugins.add import add
from headrace.errors import BadRequestError, SetupError

CONTENT = {f"plugin/{name}.jar": random.Random(name).randbytes(3_000) for name in ("one", "two", "three")}


def tar_gz() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in CONTENT.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in CONTENT.items():
            archive.writestr(name, content)
    return packed.getvalue()


KINDS = {"tar.gz": tar_gz, "zip": zipped, "jar": zipped}


def contents(directory: Path) -> set[bytes]:
    return {file.read_bytes() for file in directory.rglob("*") if file.is_file()}


def damaged(whole: bytes, seed: int) -> bytes:
    """Cut off, or with some bits changed."""
    chance = random.Random(seed)
    if seed % 4 == 0:
        return whole[: chance.randrange(len(whole))]
    some = bytearray(whole)
    for _ in range(chance.choice([1, 1, 3])):
        some[chance.randrange(len(some))] ^= 1 << chance.randrange(8)
    return bytes(some)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_archive_is_refused_in_a_sentence_or_unharmed(tmp_path: Path, kind: str):
    whole, refused = KINDS[kind](), 0
    for seed in range(300):
        archive, plugins = tmp_path / f"a{seed}.{kind}", tmp_path / f"plugins{seed}"
        archive.write_bytes(damaged(whole, seed))
        with contextlib.suppress(SetupError):
            add([str(archive)], plugins)
            if kind != "jar":
                assert contents(plugins) == set(CONTENT.values()), seed
            continue
        refused += 1
        assert list(plugins.iterdir()) == [], seed
    assert refused > 200


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_a_whole_archive_is_added(tmp_path: Path, kind: str):
    archive = tmp_path / f"whole.{kind}"
    archive.write_bytes(KINDS[kind]())
    add([str(archive)], tmp_path / "plugins")
    assert contents(tmp_path / "plugins" / "whole") == set(CONTENT.values())


def test_the_checksum_of_a_gzip_is_compared(tmp_path: Path):
    archive = tmp_path / "sum.tar.gz"
    archive.write_bytes(tar_gz()[:-8] + b"\0" * 8)
    with pytest.raises(SetupError, match=r"The archive sum.tar.gz is broken: CRC check failed"):
        add([str(archive)], tmp_path / "plugins")


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """A whole archive."""
    (tmp_path / "x.jar").write_bytes(zipped())
    return tmp_path / "x.jar"


@pytest.fixture
def unreadable(jar: Path) -> Path:
    """One that nobody may read."""
    jar.chmod(0)
    return jar


@pytest.fixture
def of_root() -> Iterator[Path]:
    """A directory, readable for all, in which whoever runs the test may not write."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o555)
        if root := os.geteuid() == 0:  # who may write anywhere
            os.seteuid(pwd.getpwnam("nobody").pw_uid)
        try:
            yield Path(directory)
        finally:
            if root:
                os.seteuid(0)
            Path(directory).chmod(0o755)


@pytest.mark.parametrize("name", ["a/b", "../out", "/out", "..", ".", "a/"])
def test_a_name_with_a_path_is_refused(tmp_path: Path, jar: Path, name: str):
    with pytest.raises(typer.BadParameter, match="has to be one name, without a path"):
        add([str(jar)], tmp_path / "plugins", name)
    assert list(tmp_path.iterdir()) == [jar]


def test_two_archives_of_one_name_are_refused(tmp_path: Path, jar: Path):
    other = tmp_path / "other" / "x.jar"
    other.parent.mkdir()
    other.write_bytes(zipped())
    with pytest.raises(BadRequestError, match=r"Two of the archives are called x\.jar; nothing was added"):
        add([str(jar), str(other)], tmp_path / "plugins")
    assert list((tmp_path / "plugins").iterdir()) == []


def test_two_archives_with_different_files_of_one_path_are_refused(tmp_path: Path):
    first, same, other = (tmp_path / f"{name}.zip" for name in ("first", "same", "other"))
    for archive in (first, same):
        archive.write_bytes(zipped())
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("plugin/one.jar", b"another")
    add([str(first), str(same)], tmp_path / "plugins", "alike")
    assert contents(tmp_path / "plugins" / "alike") == set(CONTENT.values())
    with pytest.raises(
        BadRequestError, match=r"first\.zip and other\.zip have different files plugin/one\.jar; nothing was added"
    ):
        add([str(first), str(other)], tmp_path / "plugins", "different")
    assert [each.name for each in (tmp_path / "plugins").iterdir()] == ["alike"]


def test_a_path_that_is_a_file_is_said(tmp_path: Path, jar: Path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(SetupError, match=rf"The plugin cannot be added to {path}: .*File exists"):
        add([str(jar)], path)


@pytest.mark.parametrize("below", ["", "new/plugins"])
def test_a_path_that_cannot_be_written_is_said(jar: Path, of_root: Path, below: str):
    with pytest.raises(SetupError, match=rf"The plugin cannot be added to {of_root / below}: .*Permission denied"):
        add([str(jar)], of_root / below)


def test_an_archive_that_cannot_be_read_is_said(unreadable: Path, of_root: Path):
    with tempfile.TemporaryDirectory() as path, pytest.raises(SetupError, match=f"added to {path}: .*Permission denied"):
        add([str(unreadable)], Path(path))
