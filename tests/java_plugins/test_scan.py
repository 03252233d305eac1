"""What is found in a `plugin.path`, and what is said of the rest."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from headrace.cli.plugins.add import add
from headrace.errors import BadRequestError, ConnectError, SetupError
from headrace.jvm.artifacts import Coordinates
from headrace.spark import plugin_scan
from headrace.spark.plugin_scan import scan
from tests.cli.command import headrace
from tests.java_plugins.archives import COUNTING, JOURNAL, NEEDY, VAULT

pytestmark = pytest.mark.slow

FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


def test_each_version_of_a_plugin_is_found_with_its_location(plugin_path: Path):
    found = scan([str(plugin_path)], "service_load").plugins
    versions = [(plugin.version, Path(plugin.path).name) for plugin in found if plugin.class_name == COUNTING]
    assert versions == [("1.0", "counting-1"), ("2.0-beta", "counting-2")]
    (file_source,) = (plugin for plugin in found if plugin.class_name == FILE_SOURCE)
    assert (file_source.kind, file_source.version, file_source.manifest) == ("source", "4.3.0", True)
    assert file_source.aliases == ("FileStreamSourceConnector", "FileStreamSource")


def test_an_uber_jar_and_a_zip_archive_are_locations(plugin_path: Path):
    found = {plugin.class_name: Path(plugin.path).name for plugin in scan([str(plugin_path)], "service_load").plugins}
    assert (found[JOURNAL], found[VAULT]) == ("journal-uber.jar", "vault.zip")


def test_what_cannot_be_used_is_one_sentence_each(plugin_path: Path):
    problems = [str(problem) for problem in scan([str(plugin_path)], "service_load").problems]
    assert len(problems) == 2
    assert problems[0].startswith(f"Plugin location {plugin_path}/broken: the archive broken.jar is broken: ")
    assert problems[1] == (
        f"Plugin location {plugin_path}/needy: class {NEEDY} cannot be used: "
        "it needs class org.example.Helper, which is not there."
    )


def test_a_class_that_cannot_be_used_is_one_sentence_with_and_without_a_manifest(plugin_path: Path, tmp_path: Path):
    shutil.copytree(plugin_path / "needy", tmp_path / "plugins" / "needy")

    def said(discovery: str) -> list[str]:
        return [str(problem) for problem in scan([str(tmp_path / "plugins")], discovery).problems if NEEDY in problem.text]

    sentence = (
        f"Plugin location {tmp_path}/plugins/needy: class {NEEDY} cannot be used: "
        "it needs class org.example.Helper, which is not there."
    )
    assert said("hybrid_warn") == [sentence]
    subprocess.run(["zip", "-qd", str(tmp_path / "plugins" / "needy" / "needy.jar"), "META-INF/*"], check=True)
    assert (said("service_load"), said("hybrid_warn"), said("only_scan")) == ([], [sentence], [sentence])


def test_an_unchanged_path_is_not_scanned_again(plugin_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = scan([str(plugin_path)], "service_load")
    monkeypatch.setattr(plugin_scan, "ask_in_own_jvm", pytest.fail)
    assert scan([str(plugin_path)], "SERVICE_LOAD") == first


def test_a_path_is_scanned_once_by_a_process_whose_cache_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "plugins" / "vault").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "plugins").touch()  # root, too, can make no directory of it
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path / "home"))
    scans: list[object] = []
    nothing = {"plugins": [], "locations": {}, "problems": [{"location": "vault", "text": "is empty"}]}
    monkeypatch.setattr(plugin_scan, "connect_classpath", lambda progress: [Path("host-1")])
    monkeypatch.setattr(plugin_scan, "ask_in_own_jvm", lambda requests: scans.append(requests) or nothing)
    assert [str(problem) for problem in scan([str(tmp_path / "plugins")], "hybrid_warn").problems] == [
        "Plugin location vault: is empty."
    ]
    assert len(scan([str(tmp_path / "plugins")], "hybrid_warn").problems) == len(scans) == 1


def test_classes_without_a_manifest_are_found_by_looking_into_all_and_refused_by_hybrid_fail(plugin_path: Path, tmp_path: Path):
    shutil.copytree(plugin_path / "counting-1", tmp_path / "plugins" / "counting")
    jar = tmp_path / "plugins" / "counting" / "counting.jar"
    subprocess.run(["zip", "-qd", str(jar), "META-INF/*"], check=True)
    for discovery in ("only_scan", "hybrid_warn"):
        found = scan([str(tmp_path / "plugins")], discovery).plugins
        assert (COUNTING, False) in [(plugin.class_name, plugin.manifest) for plugin in found]
    assert COUNTING not in [plugin.class_name for plugin in scan([str(tmp_path / "plugins")], "service_load").plugins]
    with pytest.raises(ConnectError, match=f"missing ServiceLoader manifests .*{COUNTING}"):
        scan([str(tmp_path / "plugins")], "hybrid_fail")


def test_without_locations_nothing_is_fetched_or_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plugin_scan, "connect_classpath", pytest.fail)
    assert scan([str(tmp_path), str(tmp_path / "absent")], "hybrid_warn").plugins == ()


def test_the_command_lists_plugins_and_says_which_headrace_has_itself(plugin_path: Path):
    listed = headrace("plugins", "list", "--path", str(plugin_path), "--discovery", "service_load", "--json")
    rows = {(row["class"], row["version"]): row["shadowed"] for row in json.loads(listed.stdout)["plugins"]}
    assert rows[COUNTING, "1.0"] is False
    assert rows[FILE_SOURCE, "4.3.0"] is True


def test_the_command_shows_the_options_of_a_plugin(plugin_path: Path):
    shown = headrace("plugins", "show", "CountingSource", "--path", str(plugin_path), "--discovery", "service_load", "--json")
    options = {option["name"]: option for option in json.loads(shown.stdout)}
    assert options["records"]["default_value"] == "10"
    assert options["secret"]["type"] == "PASSWORD"


def test_the_command_shows_a_plugin_beside_more_archives_than_an_argument_can_name(plugin_path: Path, tmp_path: Path):
    location = tmp_path / "plugins" / "counting"
    shutil.copytree(plugin_path / "counting-1", location)
    for number in range(1500):
        zipfile.ZipFile(location / f"{number:080}.jar", "w").close()
    shown = headrace("plugins", "show", "CountingSource", "--path", str(location.parent), "--discovery", "service_load", "--json")
    assert "records" in [option["name"] for option in json.loads(shown.stdout)], shown.stderr


def test_the_command_says_so_of_a_plugin_without_options(plugin_path: Path):
    shown = headrace("plugins", "show", "PlainConverter", "--path", str(plugin_path), "--discovery", "service_load")
    assert shown.stdout == "org.example.PlainConverter 2.0-beta has no options.\n"


def test_a_file_is_added_into_a_directory_of_its_own(plugin_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    jar = plugin_path / "counting-1" / "counting.jar"
    add([str(jar)], tmp_path / "p", "counting")
    assert (tmp_path / "p" / "counting" / "counting.jar").read_bytes() == jar.read_bytes()
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["counting"]
    assert capsys.readouterr().out.splitlines()[-1] == f"added {tmp_path}/p/counting"


def test_a_wrong_checksum_adds_nothing(plugin_path: Path, tmp_path: Path):
    with pytest.raises(BadRequestError, match="nothing was added"):
        add([str(plugin_path / "counting-1" / "counting.jar")], tmp_path, sha256="00")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz", "x.jar"])
def test_a_broken_archive_is_said(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(b"no archive")
    with pytest.raises(SetupError, match=f"The archive {name} is broken: "):
        add([str(tmp_path / name)], tmp_path / "p")


def test_coordinates_are_read():
    assert Coordinates.parse("a.b:c:1.0") == Coordinates("a.b", "c", "1.0")
    archive = Coordinates.parse("io.debezium:debezium-connector-postgres:3.6.1.Final:tar.gz:plugin")
    assert archive is not None
    assert archive.file_name == "debezium-connector-postgres-3.6.1.Final-plugin.tar.gz"
    assert Coordinates.parse("file.jar") is None
