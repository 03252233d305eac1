"""The process in which config providers in Java are asked."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.errors import ConfigError, SetupError
from headrace.jvm.output import pass_line
from headrace.spark import host_process
from headrace.spark.config_provider import JavaConfigProvider
from headrace.spark.connect_host import PluginError

VAULT = JavaConfigProvider.of_class("Vault", {"plugin_name": "org.example.Vault", "location": "vault.jar", "host": None})


class Process:
    """Knows the providers that were started in it."""

    def __init__(self) -> None:
        self.alive, self.props = True, {}

    def ask(self, method: str, id: str, **request: Any) -> Any:
        if "token" in request.get("props", {}) and "prefix" not in request["props"]:
            raise PluginError({"class": "Refused", "message": f"no login with {request['props']['token']}", "trace": ""})
        if method == "provider.start":
            self.props[id] = request["props"]
            return None
        return {key: self.props[id]["prefix"] + key for key in request["keys"]}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """Those that were started."""
    started: list[Process] = []

    def acquire(settings: host_process.ProcessSettings, driver: object) -> Process:
        if not started or not started[-1].alive:
            started.append(Process())
        return started[-1]

    monkeypatch.setattr(host_process, "acquire", acquire)
    return started


def test_providers_go_on_in_another_process_when_theirs_has_ended(processes: list[Process]):
    one, other = VAULT({"prefix": "a-"}), VAULT({"prefix": "b-"})
    processes[0].alive = False
    assert one.get("", {"x"}) == {"x": "a-x"}
    assert other.get("", {"x"}) == {"x": "b-x"}
    assert len(processes) == 2


def test_a_process_that_does_not_start_is_said_as_any_problem_of_a_provider(processes, monkeypatch):
    provider = VAULT({"prefix": ""})

    def refuse(settings: object, driver: object) -> None:
        raise SetupError("there is no Java")

    monkeypatch.setattr(host_process, "acquire", refuse)
    processes[0].alive = False
    with pytest.raises(ConfigError, match=r"org\.example\.Vault cannot be asked: there is no Java"):
        provider.get("", {"x"})


def test_a_token_of_a_provider_is_in_no_error_and_no_line_of_the_log(processes: list[Process], capfd: pytest.CaptureFixture[str]):
    with pytest.raises(ConfigError, match=r"Vault says Refused: no login with \[hidden\]$"):
        VAULT({"token": "hvs.S3CRET"})
    pass_line(b"no login with hvs.S3CRET\n")
    assert "no login with [hidden]\n" in capfd.readouterr().err
