"""Config providers in Java, on `plugin.path`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace import plugins
from headrace.config.providers import Resolver, configured_resolver
from headrace.errors import ConfigError
from headrace.runtime.java_plugins import install_config_providers
from headrace.spark import host_process
from tests.deployed import CONNECTOR_S
from tests.java_plugins.archives import VAULT
from tests.support import wait_until

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


def test_a_token_of_the_class_is_not_in_what_it_throws(resolver: Callable[..., Resolver]):
    with pytest.raises(ConfigError, match=r"prefix is needed for \[hidden\]$"):
        resolver(token="hvs.S3CRET")
    with pytest.raises(ConfigError, match=r"the vault is closed for \[hidden\]$"):
        resolver(prefix="", token="hvs.S3CRET").resolve({"user": "${vault:closed:user}"})


def test_providers_are_closed_when_their_process_ends(resolver: Callable[..., Resolver], tmp_path: Path):
    mark = tmp_path / "closed"
    resolver(prefix="", mark=str(mark))
    (process,) = host_process.running("config-providers")
    process.end()
    assert mark.exists()


_UNTIL_INTERRUPTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests in the background has it ignored
from headrace.config.providers import configured_resolver
from headrace.runtime.java_plugins import install_config_providers
props = dict(line.split("=", 1) for line in sys.argv[1:])
install_config_providers(props)
resolver = configured_resolver(props)
try:
    print("ready", flush=True)
    threading.Event().wait()
except KeyboardInterrupt:
    print(resolver.resolve({"user": "${vault:db/:user}"}).props["user"], flush=True)
"""


def test_providers_are_asked_and_closed_by_a_worker_that_is_interrupted_at_its_terminal(plugin_path: Path, tmp_path: Path):
    mark = tmp_path / "closed"
    props = {"plugin.path": str(plugin_path), "plugin.discovery": "service_load", "config.providers": "vault",
             "config.providers.vault.class": VAULT, "config.providers.vault.param.prefix": "in-",
             "config.providers.vault.param.mark": str(mark)}  # fmt: skip
    command = [sys.executable, "-c", _UNTIL_INTERRUPTED, *(f"{key}={value}" for key, value in props.items())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, process_group=0) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        os.killpg(worker.pid, signal.SIGINT)  # as the terminal does
        assert worker.stdout.readline() == "in-db/user\n"
    wait_until(mark.exists, CONNECTOR_S, lambda: "the provider is closed")
