"""`headrace plugins show`: which plugin a name is. What it prints is tested with real archives in `tests/java_plugins`."""

from __future__ import annotations

import pytest

from headrace.cli.plugins.look import newest_of
from headrace.errors import BadRequestError
from headrace.plugins import Kind
from headrace.spark.plugin_scan import ScannedPlugin

SHOUT = "org.example.Shout"


def found(name: str, version: str, directory: str, kind: Kind = Kind.TRANSFORMATION) -> ScannedPlugin:
    return ScannedPlugin(name, kind, version, f"file:/p/{directory}/", f"/p/{directory}", (name.rpartition(".")[2],), True)


@pytest.mark.parametrize("name", ["Shout", SHOUT])
def test_of_several_versions_the_newest_is_shown_wherever_it_lies(name: str):
    plugins = [found(SHOUT, "10.0", "a"), found(SHOUT, "9.1", "b"), found(SHOUT, "undefined", "c")]
    newest = newest_of(plugins, name)
    assert newest is not None
    assert newest.version == "10.0"


def test_a_short_name_of_several_classes_is_refused_with_their_names():
    plugins = [found(SHOUT, "1", "a"), found("com.example.Shout", "2", "b")]
    with pytest.raises(BadRequestError, match=r"several plugins: com.example.Shout, org.example.Shout. Give the whole name"):
        newest_of(plugins, "Shout")
    assert newest_of(plugins, SHOUT) == plugins[0]


def test_the_options_of_a_config_provider_are_not_asked_for():
    with pytest.raises(BadRequestError, match=r"org.example.Vault is a config provider"):
        newest_of([found("org.example.Vault", "1", "a", Kind.CONFIG_PROVIDER)], "Vault")


def test_what_is_not_there_is_nothing():
    assert newest_of([found(SHOUT, "1", "a")], "Whisper") is None
