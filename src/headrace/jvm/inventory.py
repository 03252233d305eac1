"""Which jars headrace uses, with their coordinates, checksums and licences, from the reports that Ivy leaves in the cache.

Of jars that came in a bundle, the bundle's manifest says them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headrace.jvm.jars import Conf, home, jars

RUNTIME: tuple[Conf, ...] = ("spark", "compiler", "connect")
"""The jars that a worker may need."""
EVERYTHING: tuple[Conf, ...] = (*RUNTIME, "broker", "delta", "postgresql")
"""The same, with the embedded broker and the optional formats."""
_IMPORTED = "imported-jars.json"
_FILE = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.+-]*)\.jar")


class JarDescription(NamedTuple):
    """What a jar is, by its publisher."""

    group: str
    """Maven's group; empty if nothing says it."""
    name: str
    version: str
    licenses: tuple[str, ...] = ()

    @classmethod
    def of_file(cls, name: str) -> JarDescription:
        """As far as the name of a file says them."""
        parsed = _FILE.fullmatch(name)
        return cls("", parsed["name"], parsed["version"]) if parsed else cls("", name.removesuffix(".jar"), "")

    @classmethod
    def of_json(cls, body: Mapping[str, Any]) -> JarDescription:
        """From the members `group`, `name`, `version`, `licenses`. Raises KeyError, TypeError for a body without them."""
        return cls(str(body["group"]), str(body["name"]), str(body["version"]), tuple(map(str, body["licenses"])))


@dataclass(frozen=True)
class Jar:
    """One jar."""

    file: Path
    group: str
    """Maven's group; empty if nothing is left in the cache that says it."""
    name: str
    version: str
    sha256: str
    licenses: tuple[str, ...] = ()
    """As its publisher names them; empty if nothing says it."""
    classifier: str = ""
    """Maven's classifier, as of a jar with native code."""

    @property
    def purl(self) -> str:
        """The package URL of the jar."""
        url = f"pkg:maven/{self.group}/{self.name}@{self.version}" if self.group else f"pkg:generic/{self.name}@{self.version}"
        return f"{url}?classifier={self.classifier}" if self.classifier else url


def inventory(confs: Iterable[Conf]) -> list[Jar]:
    """The jars of these configurations of ivy.xml, each once, by name; fetched if they are not there. Raises SetupError."""
    jars_by_file: dict[str, Jar] = {}
    for conf in confs:
        files = jars(conf)
        known = coordinates(conf)
        for file in files:
            about = known.get(file.name) or JarDescription.of_file(file.name)
            jars_by_file.setdefault(file.name, Jar(file, about.group, about.name, about.version, sha256(file), about.licenses))
    return [jars_by_file[name] for name in sorted(jars_by_file)]


def sha256(file: Path) -> str:
    """The checksum of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def coordinates(conf: Conf) -> dict[str, JarDescription]:
    """By the name of the file what Ivy resolved for a configuration, or else what bundles brought; empty if neither is there."""
    report = home() / "ivy" / f"io.headrace-headrace-{conf}.xml"
    if not report.is_file():
        return _imported()
    by_file = {}
    for module in ET.parse(report).getroot().iter("module"):  # written by Ivy on this machine
        group, name = module.get("organisation", ""), module.get("name", "")
        for revision in module.iter("revision"):
            version = revision.get("name", "")
            licenses = tuple(text for part in revision.iter("license") if (text := part.get("name")))
            for artifact in revision.iter("artifact"):
                file = f"{artifact.get('name')}-{version}.{artifact.get('ext')}"
                by_file[file] = JarDescription(group, name, version, licenses)
    return by_file


def keep_imported(by_file: Mapping[str, JarDescription]) -> None:
    """Remember what a bundle says of its jars, by the name of the file. Raises OSError."""
    target = home() / _IMPORTED
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    content = {name: about._asdict() for name, about in sorted((_imported() | dict(by_file)).items())}
    partial.write_text(json.dumps(content, indent=1), encoding="utf-8")
    partial.replace(target)


def _imported() -> dict[str, JarDescription]:
    file = home() / _IMPORTED
    if not file.is_file():
        return {}
    content = json.loads(file.read_text(encoding="utf-8"))  # written by `keep_imported`
    return {name: JarDescription.of_json(body) for name, body in content.items()}
