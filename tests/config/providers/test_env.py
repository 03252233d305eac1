from __future__ import annotations

import pytest

from headrace.config.providers.env import EnvVarConfigProvider
from headrace.errors import ConfigError

ENVIRON = {"CONNECT_USER": "headrace", "MY_CONNECT_X": "x", "HOME": "/root"}


def test_variables_are_given() -> None:
    assert EnvVarConfigProvider({}, ENVIRON).get("", {"HOME", "NONE"}) == {"HOME": "/root"}


@pytest.mark.parametrize(
    ("pattern", "allowed"), [("CONNECT_", {"CONNECT_USER", "MY_CONNECT_X"}), ("^CONNECT_.*$", {"CONNECT_USER"}), ("^$", set())]
)
def test_only_variables_in_whose_name_the_pattern_is_found(pattern: str, allowed: set[str]) -> None:
    provider = EnvVarConfigProvider({"allowlist.pattern": pattern}, ENVIRON)
    assert set(provider.get("", ENVIRON.keys())) == allowed


def test_there_is_no_path() -> None:
    with pytest.raises(ConfigError, match=r"^Path is not supported for EnvVarConfigProvider, invalid value 'p'$"):
        EnvVarConfigProvider({}, ENVIRON).get("p", {"HOME"})


def test_a_pattern_has_to_be_one() -> None:
    with pytest.raises(ConfigError, match=r"^Invalid value \( for configuration allowlist.pattern: Invalid regex: "):
        EnvVarConfigProvider({"allowlist.pattern": "("}, ENVIRON)
