from __future__ import annotations

import io
import json
import resource
import tarfile
from hashlib import sha256 as hashed
from pathlib import Path

import pytest

from headrace.errors import SetupError
from headrace.jvm import bundle
from headrace.jvm.inventory import inventory, sha256
from headrace.jvm.jars import connect_classpath, extension_jar, jars
from headrace.sbom import sbom

pytestmark = pytest.mark.slow


def ignore(_: str) -> None: ...


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "jars.tar"
    bundle.write(file, ("spark", "compiler", "connect"), ignore)
    return file


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache on a machine where nothing can be fetched."""
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HEADRACE_IVY_SETTINGS", "/nowhere/ivysettings.xml")
    return tmp_path


def test_a_machine_without_a_network_has_every_jar_from_the_bundle(written: Path, offline: Path) -> None:
    with pytest.raises(SetupError):
        jars("spark")
    count = bundle.read(written, ignore)
    found = {*jars("spark"), *jars("compiler"), extension_jar(), *connect_classpath()}
    assert len(found) == count
    assert all(file.is_relative_to(offline) for file in found)
    assert bundle.read(written, ignore) == count  # once more does no harm


def test_what_is_in_a_bundle_is_what_was_in_the_cache(written: Path) -> None:
    with tarfile.open(written) as tar:
        content = tar.extractfile("manifest.json")
        assert content is not None
        manifest = json.load(content)
    assert {Path(name).name for name in manifest["files"]} >= {jar.name for jar in jars("spark")}
    checksums = {entry["sha256"] for entry in manifest["files"].values()}
    assert {sha256(jar) for jar in jars("spark")} <= checksums


def test_the_manifest_says_of_every_file_what_it_is_and_its_licences(written: Path) -> None:
    with tarfile.open(written) as tar:
        content = tar.extractfile("manifest.json")
        assert content is not None
        files = json.load(content)["files"]
    assert [name for name, about in files.items() if not (about["group"] and about["name"] and about["version"])] == []
    (api,) = (about for name, about in files.items() if name.endswith("connect-api-4.3.0.jar") and "/spark-" in name)
    assert (api["group"], api["name"], api["version"]) == ("org.apache.kafka", "connect-api", "4.3.0")
    assert api["licenses"]


def test_the_bill_of_materials_after_an_import_is_that_of_the_machine_that_wrote_the_bundle(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confs = ("spark", "compiler", "connect")
    before = sbom(inventory(confs), ())
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HEADRACE_IVY_SETTINGS", "/nowhere/ivysettings.xml")
    bundle.read(written, ignore)
    assert sbom(inventory(confs), ()) == before
    assert [c["name"] for c in before["components"] if c["purl"].startswith("pkg:generic/")] == []


def test_two_bundles_of_the_same_are_equal(written: Path, tmp_path: Path) -> None:
    bundle.write(tmp_path / "again.tar", ("spark", "compiler", "connect"), ignore)
    assert sha256(tmp_path / "again.tar") == sha256(written)


def tar_of(file: Path, version: str | None, files: dict[str, bytes], sums: dict[str, str]) -> Path:
    about = {"group": "", "name": "a", "version": "1", "licenses": []}
    entries = {name: {"sha256": checksum, **about} for name, checksum in sums.items()}
    return tar_with(file, {"headrace": version or bundle.__version__, "files": entries}, files)


def tar_with(file: Path, content: object, files: dict[str, bytes]) -> Path:
    manifest = json.dumps(content).encode()
    with tarfile.open(file, "w") as tar:
        for name, content in {"manifest.json": manifest, **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return file


@pytest.mark.parametrize(
    ("version", "name", "complaint"),
    [
        ("0.0.1", "jars/spark-1/a.jar", "is of headrace 0.0.1"),
        (None, "../outside.jar", "which is no place of a jar"),
        (None, "jars/../../outside.jar", "which is no place of a jar"),
        (None, "/etc/outside.jar", "which is no place of a jar"),
        (None, "jars/spark-1/a.jar", "has another checksum than its manifest says"),
    ],
)
def test_a_bundle_that_is_not_to_be_trusted_changes_nothing(
    version: str | None, name: str, complaint: str, offline: Path
) -> None:
    file = tar_of(offline / "bad.tar", version, {name: b"x"}, {name: "0" * 64})
    with pytest.raises(SetupError, match=complaint):
        bundle.read(file, ignore)
    assert not list(offline.rglob("*.jar"))


def test_a_cache_that_is_full_is_not_a_fault_of_the_bundle(offline: Path) -> None:
    content = b"x" * 10_000
    file = tar_of(
        offline / "good.tar", None, {"jars/spark-1/a.jar": content}, {"jars/spark-1/a.jar": hashed(content).hexdigest()}
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(SetupError, match=r"^The cache directory .*home cannot be written \(File too large\); make room"):
            bundle.read(file, ignore)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert bundle.read(file, ignore) == 1


def test_a_file_that_is_no_bundle_is_one_sentence(offline: Path) -> None:
    (offline / "no.tar").write_bytes(b"not a tar")
    with pytest.raises(SetupError, match="cannot be read"):
        bundle.read(offline / "no.tar", ignore)


@pytest.mark.parametrize(
    "content",
    [
        [],
        "text",
        {"headrace": bundle.__version__},
        {"headrace": bundle.__version__, "files": ["a.jar"]},
        {"headrace": bundle.__version__, "files": {"jars/spark-1/a.jar": "0"}},
    ],
)
def test_a_manifest_of_another_form_is_one_sentence(content: object, offline: Path) -> None:
    file = tar_with(offline / "odd.tar", content, {})
    with pytest.raises(SetupError, match=r"odd\.tar cannot be read: its manifest\.json does not list files"):
        bundle.read(file, ignore)


def test_the_bill_of_materials_lists_packages_and_jars_with_checksums_and_licences() -> None:
    body = sbom(inventory(("spark",)), ())
    assert (body["bomFormat"], body["specVersion"]) == ("CycloneDX", "1.6")
    purls = [component["purl"] for component in body["components"]]
    assert len(purls) == len(set(purls))
    assert "pkg:maven/org.apache.kafka/connect-api@4.3.0" in purls
    assert "pkg:pypi/pyspark@4.2.0" in purls
    refs = {body["metadata"]["component"]["bom-ref"], *(component["bom-ref"] for component in body["components"])}
    assert {ref for entry in body["dependencies"] for ref in (entry["ref"], *entry["dependsOn"])} <= refs
    api = next(c for c in body["components"] if c["name"] == "connect-api")
    assert api["licenses"] and len(api["hashes"][0]["content"]) == 64
    assert [c["name"] for c in body["components"] if c["purl"].startswith("pkg:pypi/") and "licenses" not in c] == []
    assert sbom(inventory(("spark",)), ()) == body
