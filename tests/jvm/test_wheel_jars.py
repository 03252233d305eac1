"""What the jars in the PySpark wheel are, in the bill of materials."""

from __future__ import annotations

import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from headrace import sbom as materials
from headrace.jvm.inventory import sha256
from headrace.jvm.jars import wheel_jar
from headrace.jvm.wheel_jars import described
from headrace.sbom import sbom


def jar(file: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return file


def pom(group: str, name: str, version: str) -> dict[str, str]:
    place = f"META-INF/maven/{group}/{name}"
    licensed = "<licenses><license><name>Apache-2.0</name></license></licenses>"
    return {
        f"{place}/pom.properties": f"#x\ngroupId={group}\nartifactId={name}\nversion={version}\n",
        f"{place}/pom.xml": f'<project xmlns="http://maven.apache.org/POM/4.0.0">{licensed}</project>',
    }


def manifest(text: str) -> dict[str, str]:
    return {"META-INF/MANIFEST.MF": f"Manifest-Version: 1.0\r\n{text}\r\n\r\nName: a/b\r\nImplementation-Vendor-Id: no\r\n"}


@pytest.mark.parametrize(
    ("name", "files", "purl", "licenses"),
    [
        ("a-1.0.jar", pom("g", "shaded", "2") | pom("g", "a", "1.0"), "pkg:maven/g/a@1.0", ("Apache-2.0",)),
        ("a-1.0-linux-x86_64.jar", pom("g", "a", "1.0"), "pkg:maven/g/a@1.0?classifier=linux-x86_64", ("Apache-2.0",)),
        ("b_2.13-1.jar", manifest("Implementation-Vendor-Id: org.ty\r\n pe"), "pkg:maven/org.type/b_2.13@1", ()),
        (
            "c-1.jar",
            manifest("Implementation-Vendor-Id: org\r\nBundle-License: MIT, 0BSD;link=x"),
            "pkg:generic/c@1",
            ("MIT", "0BSD"),
        ),
        ("d-1.jar", {}, "pkg:generic/d@1", ()),
    ],
)
def test_a_jar_is_what_it_says(tmp_path: Path, name: str, files: dict[str, str], purl: str, licenses: tuple[str, ...]) -> None:
    about = described(jar(tmp_path / name, files))
    assert (about.purl, about.licenses, about.sha256) == (purl, licenses, sha256(tmp_path / name))


def test_the_jars_of_pyspark_are_its_dependencies_and_none_is_listed_twice() -> None:
    netty, log4j = (described(wheel_jar(name)) for name in ("netty-buffer", "log4j-core"))
    body = sbom([log4j], [netty, log4j])
    refs = [component["bom-ref"] for component in body["components"]]
    assert len(refs) == len(set(refs)) and {netty.purl, log4j.purl} <= set(refs)
    assert netty.purl.startswith("pkg:maven/io.netty/netty-buffer@")
    needs = {entry["ref"]: entry["dependsOn"] for entry in body["dependencies"]}
    pyspark = f"pkg:pypi/pyspark@{metadata.version('pyspark')}"
    assert {netty.purl, log4j.purl} <= set(needs[pyspark])
    assert netty.purl not in needs[body["metadata"]["component"]["bom-ref"]]


def test_packages_of_extras_are_listed_where_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    requires = {
        "headrace": ["one>=1", "two[fast]; python_version>'3'", "three; extra == 'more'", "away; extra == 'other'",
                     "three; extra == 'other'", "headrace[more]; extra == 'all'"],
        "two": ["quick; extra == 'fast'", "slow; extra == 'slow'", "one"],
        "one": ["two"],
    }  # fmt: skip
    monkeypatch.setattr(materials, "_installed", lambda name: name != "away")
    monkeypatch.setattr(materials.metadata, "requires", requires.get)
    graph = materials._python("headrace")
    assert graph["headrace"] == {"one", "two", "three"}
    assert graph["two"] == {"quick", "one"} and sorted(graph) == ["headrace", "one", "quick", "three", "two"]
