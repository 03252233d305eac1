from __future__ import annotations

import pytest

from headrace.config.providers.env import EnvVarConfigProvider
from headrace.errors import ConfigError

ENVIRON = {"CONNECT_USER": "headrace", "MY_CONNECT_X": "x", "HOME": "/root"}


def test_variables_are_given() -> None:
    assert EnvVarConfigProvider({}, ENVIRON).get("", {"HOME", "NONE"}) == {"HOME": "/root"}


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [("CONNECT_USER|HOME", {"CONNECT_USER", "HOME"}), ("CONNECT_.*", {"CONNECT_USER"}), ("^CONNECT_", set()), ("X|ME", set())],
)
def test_only_variables_whose_whole_name_matches_the_pattern_are_given(pattern: str, allowed: set[str]) -> None:
    provider = EnvVarConfigProvider({"allowlist.pattern": pattern}, ENVIRON)
    assert set(provider.get("", ENVIRON.keys())) == allowed


def test_there_is_no_path() -> None:
    with pytest.raises(ConfigError, match=r"^Path is not supported for EnvVarConfigProvider, invalid value 'p'$"):
        EnvVarConfigProvider({}, ENVIRON).get("p", {"HOME"})


def test_a_pattern_has_to_be_one() -> None:
    with pytest.raises(ConfigError, match=r"^Invalid value \( for configuration allowlist.pattern: Invalid regex: "):
        EnvVarConfigProvider({"allowlist.pattern": "("}, ENVIRON)
