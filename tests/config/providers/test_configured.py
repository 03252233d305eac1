"""The providers that a worker's properties name, and what they do to these properties and to validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.cluster.standalone.group import StandaloneGroup
from headrace.cluster.status_reporter import StatusReporter
from headrace.config.providers import ConfigProvider, configured_resolver
from headrace.connect_config import validation
from headrace.connectors.base import ConnectorContext
from headrace.errors import BadRequestError, ConfigError, ConnectError
from headrace.preview.run import prepare
from headrace.runtime.distributed_config import DistributedConfig
from headrace.runtime.running_connector import RunningConnector
from headrace.runtime.standalone_config import StandaloneConfig
from headrace.runtime.worker import Worker
from headrace.runtime.worker_config import WorkerConfig
from tests.connect_config.conftest import WORKER
from tests.support import own_messages

PREFIX = "org.apache.kafka.common.config.provider."


class Upper(ConfigProvider):
    """A user's own."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self.params = params

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        return {key: key.upper() + self.params.get("suffix", "") for key in keys}


@pytest.fixture
def secrets(tmp_path: Path) -> Callable[[str], str]:
    """Makes `${file:…:key}`, of a file with password, number and item."""
    file = tmp_path / "secrets.properties"
    file.write_text("password=tOp-s3cr3t\nshort=zz\nconverter=org.apache.kafka.connect.storage.StringConverter\nempty=\n")
    return lambda key: f"${{file:{file}:{key}}}"


@pytest.fixture
def worker() -> WorkerConfig:
    return DistributedConfig(WORKER | {"config.providers": "file", "config.providers.file.class": "FileConfigProvider"})


@pytest.mark.parametrize(
    "name", [PREFIX + "FileConfigProvider", "FileConfigProvider", PREFIX + "DirectoryConfigProvider", "EnvVarConfigProvider"]
)
def test_kafkas_providers_go_by_their_full_and_simple_names(name: str) -> None:
    configured_resolver({"config.providers": "a", "config.providers.a.class": name})


def test_a_provider_of_ones_own_goes_by_its_dotted_name() -> None:
    props = {
        "config.providers": " a , u",
        "config.providers.u.class": f"{__name__}.Upper",
        "config.providers.u.param.suffix": "!",
    }
    assert configured_resolver(props).resolve({"k": "${u:hey}"}).props == {"k": "HEY!"}


def test_a_provider_without_class_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    assert configured_resolver({"config.providers": "a"}).resolve({"k": "${a:b}"}).props == {"k": "${a:b}"}
    assert own_messages(caplog) == ["The config provider a is not used: config.providers.a.class is not set."]


def test_a_class_that_there_is_not_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError) as raised:
        configured_resolver({"config.providers": "a", "config.providers.a.class": "com.x.Vault"})
    assert str(raised.value) == (
        "Invalid value com.x.Vault for configuration config.providers.a.class: Could not load config provider class or one of "
        f"its dependencies; those there are: {PREFIX}DirectoryConfigProvider, "
        f"{PREFIX}EnvVarConfigProvider, {PREFIX}FileConfigProvider"
    )


def test_wrong_params_are_told_with_the_name_of_the_provider() -> None:
    props = {
        "config.providers": "a",
        "config.providers.a.class": "FileConfigProvider",
        "config.providers.a.param.allowed.paths": "x",
    }
    with pytest.raises(ConfigError, match=r"^The config provider a cannot be used: Path x is not absolute$"):
        configured_resolver(props)


def test_a_workers_own_properties_are_resolved(secrets: Callable[[str], str]) -> None:
    given = {
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        "key.converter": secrets("converter"),
    }
    alone = {"offset.storage.file.filename": "/x", "producer.ssl.key.password": secrets("password")}
    config = StandaloneConfig(WORKER | alone | given)
    assert config.key_converter == "org.apache.kafka.connect.storage.StringConverter"
    assert config.client_props("producer")["ssl.key.password"] == "tOp-s3cr3t"


def test_an_error_in_a_workers_properties_does_not_show_a_value(secrets: Callable[[str], str]) -> None:
    given = {
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        "metrics.num.samples": secrets("password"),
    }
    with pytest.raises(ConfigError) as raised:
        DistributedConfig(WORKER | given)
    assert (
        str(raised.value)
        == f"Invalid value {secrets('password')} for configuration metrics.num.samples: Not a number of type INT"
    )


def test_validation_sees_values_and_shows_placeholders(worker: WorkerConfig, secrets: Callable[[str], str]) -> None:
    config = {
        "name": "c", "connector.class": "FileStreamSource", "topic": secrets("password"), "file": f"/x/{secrets('short')}",
        "batch.size": secrets("password"), "tasks.max": secrets("short"), "key.converter": secrets("converter"),
        "some.unknown": secrets("password"), "producer.override.ssl.key.password": secrets("password"),
        "producer.override.compression.type": secrets("password"),
    }  # fmt: skip
    body = validation.validate("FileStreamSource", config, worker)
    found = {one["value"]["name"]: one["value"] for one in body["configs"]}
    assert "s3cr3t" not in str(body)
    assert found["topic"]["value"] == secrets("password")
    assert found["file"]["value"] == f"/x/{secrets('short')}"
    assert found["key.converter"]["value"] == secrets("converter")
    assert found["key.converter"]["errors"] == []
    assert found["producer.override.ssl.key.password"]["value"] == "[hidden]"
    assert found["producer.override.compression.type"]["value"] == secrets("password")
    sentence = f"Invalid value {secrets('password')} for configuration batch.size: Not a number of type INT"
    assert found["batch.size"]["errors"] == [sentence]
    assert (
        found["tasks.max"]["errors"][0]
        == f"Invalid value {secrets('short')} for configuration tasks.max: Not a number of type INT"
    )
    with pytest.raises(BadRequestError) as raised:
        validation.check(config, worker)
    assert sentence in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


def test_other_ends_of_a_validation_do_not_show_a_value(worker: WorkerConfig, secrets: Callable[[str], str]) -> None:
    for config in (
        {"name": "c", "password": secrets("password")},
        {"name": "c", "connector.class": secrets("password")},
        {"name": "c", "connector.class": "FileStreamSource", "producer.override.linger.ms": secrets("password")},
    ):
        with pytest.raises((BadRequestError, ConnectError)) as raised:
            validation.validate("FileStreamSource" if len(config) == 3 else secrets("password"), config, worker)
        assert "s3cr3t" not in str(raised.value)
        assert secrets("password") in str(raised.value)


def test_a_file_that_is_gone_is_the_answer_of_a_validation(worker: WorkerConfig) -> None:
    config = {"name": "c", "connector.class": "FileStreamSource", "topic": "${file:/no/file:key}"}
    with pytest.raises(ConnectError, match=r"Could not read properties from file /no/file$"):
        validation.check(config, worker)


def test_task_configurations_hold_placeholders(worker: WorkerConfig, secrets: Callable[[str], str]) -> None:
    config = {"name": "c", "connector.class": "FileStreamSource", "topic": secrets("password"), "tasks.max": "1"}
    made = Worker(worker, None, None, None, StandaloneGroup().session)  # type: ignore[arg-type]
    running: RunningConnector = made.start_connector(config, ConnectorContext("c", lambda: None, lambda _: None))
    assert running.instance.task_configs(1)[0]["topic"] == "tOp-s3cr3t"
    assert running.task_configs() == [{**config, "task.class": "org.apache.kafka.connect.file.FileStreamSourceTask"}]


def test_a_preview_is_planned_with_values_and_its_errors_show_placeholders(
    worker: WorkerConfig, secrets: Callable[[str], str]
) -> None:
    config = {"connector.class": "FileStreamSource", "topic": secrets("password"), "file": "/x", "transforms": "t"}
    router = {"transforms.t.type": "RegexRouter", "transforms.t.regex": ".*", "transforms.t.replacement": "x"}
    assert prepare(config | router, worker).topic == "tOp-s3cr3t"
    with pytest.raises(BadRequestError) as raised:
        prepare(config | router | {"transforms.t.regex": secrets("password") + "("}, worker)
    assert "s3cr3t" not in str(raised.value)
    assert secrets("password") + "(" in str(raised.value)


def test_a_status_does_not_show_a_value(worker: WorkerConfig, secrets: Callable[[str], str]) -> None:
    worker.resolver.resolve({"a": secrets("password")})
    written: list[dict] = []
    store: Any = SimpleNamespace(put_task_status_safe=lambda _name, _task, status: written.append(status))
    error = ConnectError("cannot log in with tOp-s3cr3t")
    error.__cause__ = ValueError("bad tOp-s3cr3t")
    StatusReporter(store, "w:1", True).task("c", 0, "FAILED", None, error)
    assert "s3cr3t" not in written[0]["trace"]
    assert written[0]["trace"].count(secrets("password")) == 2
