"""`headrace plugins add` of damaged archives."""

from __future__ import annotations

import contextlib
import io
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from headrace.cli.plugins.add import add
from headrace.errors import SetupError

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
