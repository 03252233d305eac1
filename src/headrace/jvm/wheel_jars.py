"""The jars in the PySpark wheel, with what each says of itself: coordinates, licences, and its checksum.

Maven leaves `META-INF/maven/<group>/<artifact>/pom.properties` in a jar; one that is shaded has several, and that of the file's
name counts. What sbt has built says its group in the manifest. Of the others, the name of the file says name and version.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from headrace.config import parse_properties
from headrace.jvm.inventory import Jar, JarDescription, sha256
from headrace.jvm.jars import wheel_jar

_POM = re.compile(r"META-INF/maven/[^/]+/[^/]+/pom\.properties")
_OF_SCALA = re.compile(r"_2\.\d+$")


def wheel_jars() -> list[Jar]:
    """All of them, by the name of the file. Raises SetupError if PySpark is not installed."""
    return [described(file) for file in sorted(wheel_jar("ivy").parent.glob("*.jar"))]


def described(file: Path) -> Jar:
    """One jar, by what it says of itself."""
    with zipfile.ZipFile(file) as archive:
        about, classifier = _description(archive, file)
    return Jar(file, about.group, about.name, about.version, sha256(file), about.licenses, classifier)


def _description(archive: zipfile.ZipFile, file: Path) -> tuple[JarDescription, str]:
    """What the jar is, and its classifier."""
    manifest, by_name = _manifest(archive), JarDescription.of_file(file.name)
    for name in filter(_POM.fullmatch, archive.namelist()):
        pom = parse_properties(archive.read(name).decode("utf-8", "replace"))
        stem = f"{pom.get('artifactId')}-{pom.get('version')}"
        if file.stem == stem or file.stem.startswith(f"{stem}-"):
            licenses = _licenses(archive, name.replace("pom.properties", "pom.xml")) or _bundle_licenses(manifest)
            about = JarDescription(pom.get("groupId", ""), pom["artifactId"], pom["version"], licenses)
            return about, file.stem.removeprefix(stem).removeprefix("-")
    group = manifest.get("Implementation-Vendor-Id", "") if _OF_SCALA.search(by_name.name) else ""
    return by_name._replace(group=group, licenses=_bundle_licenses(manifest)), ""


def _manifest(archive: zipfile.ZipFile) -> dict[str, str]:
    """The main attributes of the manifest."""
    try:
        text = archive.read("META-INF/MANIFEST.MF").decode("utf-8", "replace")
    except KeyError:
        return {}
    lines = re.sub(r"\r?\n ", "", text).replace("\r", "").partition("\n\n")[0].splitlines()
    return {name: value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}


def _licenses(archive: zipfile.ZipFile, pom: str) -> tuple[str, ...]:
    """The names of the licences in a `pom.xml`; empty if it is not there, or leaves them to its parent."""
    try:
        root = ET.fromstring(archive.read(pom))
    except (KeyError, ET.ParseError):
        return ()
    return tuple(text for name in root.iterfind("./{*}licenses/{*}license/{*}name") if (text := (name.text or "").strip()))


def _bundle_licenses(manifest: dict[str, str]) -> tuple[str, ...]:
    """`Bundle-License` of OSGi: names or addresses, separated by commas, each with attributes behind a semicolon."""
    parts = (part.partition(";")[0].strip().strip('"') for part in manifest.get("Bundle-License", "").split(","))
    return tuple(part for part in parts if part and not part.startswith("description="))
