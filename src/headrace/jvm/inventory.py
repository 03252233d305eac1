"""Which jars headrace uses, with their coordinates, checksums and licences, from the reports that Ivy leaves in the cache."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headrace.jvm.jars import Conf, home, jars

RUNTIME: tuple[Conf, ...] = ("spark", "compiler", "connect")
"""The jars that a worker may need."""
EVERYTHING: tuple[Conf, ...] = (*RUNTIME, "broker", "delta", "postgresql")
"""The same, with the embedded broker and the optional formats."""
_FILE = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.+-]*)\.jar")


@dataclass(frozen=True)
class Jar:
    """One jar."""

    file: Path
    group: str
    """Maven's group; empty if Ivy's report is gone, as after an import."""
    name: str
    version: str
    sha256: str
    licenses: tuple[str, ...] = ()

    @property
    def purl(self) -> str:
        """The package URL of the jar."""
        return f"pkg:maven/{self.group}/{self.name}@{self.version}" if self.group else f"pkg:generic/{self.name}@{self.version}"


def inventory(confs: Iterable[Conf]) -> list[Jar]:
    """The jars of these configurations of ivy.xml, each once, by name; fetched if they are not there. Raises SetupError."""
    jars_by_file: dict[str, Jar] = {}
    for conf in confs:
        files = jars(conf)
        licences = _report(conf)
        for file in files:
            jars_by_file.setdefault(file.name, _jar(file, licences))
    return [jars_by_file[name] for name in sorted(jars_by_file)]


def sha256(file: Path) -> str:
    """The checksum of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _jar(file: Path, licences: dict[str, tuple[str, str, str, tuple[str, ...]]]) -> Jar:
    if file.name in licences:
        group, name, version, licenses = licences[file.name]
        return Jar(file, group, name, version, sha256(file), licenses)
    parsed = _FILE.fullmatch(file.name)
    name, version = (parsed["name"], parsed["version"]) if parsed else (file.stem, "")
    return Jar(file, "", name, version, sha256(file))


def _report(conf: str) -> dict[str, tuple[str, str, str, tuple[str, ...]]]:
    """Group, name, version and licences by the name of the file, of what Ivy resolved; empty if its report is gone."""
    report = home() / "ivy" / f"io.headrace-headrace-{conf}.xml"
    if not report.is_file():
        return {}
    licenses_by_name = {}
    for module in ET.parse(report).getroot().iter("module"):  # written by Ivy on this machine
        group, name = module.get("organisation", ""), module.get("name", "")
        for revision in module.iter("revision"):
            version = revision.get("name", "")
            licenses = tuple(text for part in revision.iter("license") if (text := part.get("name")))
            for artifact in revision.iter("artifact"):
                file = f"{artifact.get('name')}-{version}.{artifact.get('ext')}"
                licenses_by_name[file] = (group, name, version, licenses)
    return licenses_by_name
