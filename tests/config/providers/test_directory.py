from __future__ import annotations

from pathlib import Path

import pytest

from headrace.config.providers.directory import DirectoryConfigProvider
from headrace.errors import ConfigError
from tests.support import own_messages


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "mounted"
    (made / "folder").mkdir(parents=True)
    (made / "password").write_bytes("päss\n".encode())
    (made / "user").write_text("headrace")
    return made


def test_the_files_that_are_there_are_given_whole(directory: Path) -> None:
    found = DirectoryConfigProvider({}).get(str(directory), {"password", "user", "folder", "none", "../mounted/user"})
    assert found == {"password": "päss\n", "user": "headrace"}


def test_what_is_no_directory_has_nothing(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    provider = DirectoryConfigProvider({})
    assert provider.get("", {"user"}) == {}
    assert provider.get(f"{directory}/user", {"user"}) == {}
    assert own_messages(caplog) == [f"The path {directory}/user is not a directory"]


def test_only_allowed_directories_are_read_and_no_links_out_of_them(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("x")
    (directory / "link").symlink_to(tmp_path / "private")
    (directory / "alias").symlink_to("user")
    provider = DirectoryConfigProvider({"allowed.paths": str(directory)})
    assert provider.get(str(directory), {"user", "link", "alias"}) == {"user": "headrace", "alias": "headrace"}
    assert provider.get(str(tmp_path), {"private"}) == {}


def test_a_file_that_is_not_utf_8_is_an_error_that_does_not_show_it(directory: Path, caplog: pytest.LogCaptureFixture) -> None:
    (directory / "latin").write_bytes("pässwort".encode("latin-1"))
    with pytest.raises(ConfigError, match=f"^Could not read file {directory}/latin for property latin$") as raised:
        DirectoryConfigProvider({}).get(str(directory), {"latin"})
    assert raised.value.__cause__ is raised.value.__context__ is None
    assert own_messages(caplog) == [f"Could not read file {directory}/latin for property latin: it is not UTF-8"]
