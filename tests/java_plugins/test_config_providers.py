"""Config providers in Java, on `plugin.path`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace import plugins
from headrace.config.providers import Resolver, configured_resolver
from headrace.errors import ConfigError
from headrace.runtime.java_plugins import install_config_providers
from headrace.spark import host_process
from tests.java_plugins.archives import VAULT

pytestmark = pytest.mark.slow


@pytest.fixture
def resolver(plugin_path: Path) -> Iterator[Callable[..., Resolver]]:
    """Makes the providers of a worker with `Vault` as `vault`, and these params."""
    before = plugins.java_plugins()

    def make(**params: str) -> Resolver:
        props = {"plugin.path": str(plugin_path), "plugin.discovery": "service_load", "config.providers": "vault"}
        props |= {"config.providers.vault.class": VAULT, **{f"config.providers.vault.param.{k}": v for k, v in params.items()}}
        install_config_providers(props)
        return configured_resolver(props)

    yield make
    plugins.set_java_plugins(before)


def test_placeholders_get_what_the_class_says_and_stay_where_it_knows_nothing(resolver: Callable[..., Resolver]):
    given = {"user": "${vault:db/:user}", "url": "${vault:a:b}-${vault:c:none}", "plain": "x"}
    resolved = resolver(prefix="in-").resolve(given)
    assert resolved.props == {"user": "in-db/user", "url": "in-ab-${vault:c:none}", "plain": "x"}


def test_what_the_class_throws_is_a_sentence(resolver: Callable[..., Resolver]):
    exception = "org.apache.kafka.common.config.ConfigException"
    with pytest.raises(ConfigError, match=f"vault cannot be used: {VAULT} says {exception}: prefix is needed"):
        resolver()
    with pytest.raises(ConfigError, match=f"{VAULT} says {exception}: the vault is closed"):
        resolver(prefix="").resolve({"user": "${vault:closed:user}"})


def test_providers_are_closed_when_their_process_ends(resolver: Callable[..., Resolver], tmp_path: Path):
    mark = tmp_path / "closed"
    resolver(prefix="", mark=str(mark))
    (process,) = host_process.running("config-providers")
    process.end()
    assert mark.exists()
