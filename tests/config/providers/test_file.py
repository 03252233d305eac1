from __future__ import annotations

from pathlib import Path

import pytest

from headrace.config.providers.file import FileConfigProvider
from headrace.errors import ConfigError
from tests.support import own_messages


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "secrets" / "db.properties"
    made.parent.mkdir()
    made.write_text("user=headrace\npassword: p\\u00e4ss=\n empty=\n", encoding="utf-8")
    return made


def test_the_properties_that_are_there_are_given(file: Path) -> None:
    found = FileConfigProvider({}).get(str(file), {"user", "password", "empty", "none"})
    assert found == {"user": "headrace", "password": "päss=", "empty": ""}


def test_without_a_path_there_is_nothing() -> None:
    assert FileConfigProvider({}).get("", {"user"}) == {}


def test_the_file_is_read_at_each_use(file: Path) -> None:
    provider = FileConfigProvider({})
    provider.get(str(file), {"user"})
    file.write_text("user=other")
    assert provider.get(str(file), {"user"}) == {"user": "other"}


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file or directory"), (b"a=\xff", "it is not UTF-8"), (b"a=\\u12", "it has a malformed \\uxxxx escape")],
)
def test_a_file_that_cannot_be_read_is_an_error_in_one_sentence(file: Path, content: bytes | None, why: str) -> None:
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        FileConfigProvider({}).get(str(file), {"a"})
    assert (str(raised.value), str(raised.value.__cause__)) == (f"Could not read properties from file {file}", why)


def test_only_allowed_paths_are_read(file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "secrets-elsewhere").write_text("user=x")
    provider = FileConfigProvider({"allowed.paths": str(file.parent)})
    assert provider.get(str(file), {"user"}) == {"user": "headrace"}
    for path in (f"{file.parent}/../secrets-elsewhere", f"{tmp_path}/secrets-elsewhere", "secrets/db.properties", "/etc/passwd"):
        caplog.clear()
        assert provider.get(path, {"user"}) == {}
        assert own_messages(caplog) == [f"The path {path} is not allowed to be accessed"]


def test_a_link_leads_only_to_what_is_allowed(file: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.properties"
    outside.write_text("user=x")
    (file.parent / "link").symlink_to(outside)
    (file.parent / "inside").symlink_to(file)
    provider = FileConfigProvider({"allowed.paths": str(file.parent)})
    assert provider.get(str(file.parent / "link"), {"user"}) == {}
    assert provider.get(str(file.parent / "inside"), {"user"}) == {"user": "headrace"}


def test_one_of_several_paths_may_be_a_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    provider = FileConfigProvider({"allowed.paths": f"{tmp_path / 'other'},{file},,"})
    assert provider.get(str(file), {"user"}) == {"user": "headrace"}
    assert FileConfigProvider({"allowed.paths": ","}).get(str(file), {"user"}) == {}


@pytest.mark.parametrize(("path", "sentence"), [
    ("secrets", "Path secrets is not absolute"),
    ("/no/such/directory", "Path /no/such/directory does not exist"),
    ("/tmp,,/tmp", "Path  is not absolute"),
])  # fmt: skip
def test_an_allowed_path_has_to_be_absolute_and_to_exist(path: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        FileConfigProvider({"allowed.paths": path})
