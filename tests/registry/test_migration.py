"""Configurations as they are in use elsewhere: Confluent's as they stand, Apicurio's by the notes of docs/formats.md."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from headrace.errors import ConfigError
from headrace.registry.settings import RegistrySettings, registry_settings
from headrace.runtime.plan import converters
from headrace.runtime.worker_config import WorkerConfig
from tests.registry.test_options import AVRO, JSON_SCHEMA, PROTOBUF

STRING = "org.apache.kafka.connect.storage.StringConverter"
IMAGE = {  # a worker of the usual image: CONNECT_KEY_CONVERTER, CONNECT_VALUE_CONVERTER_SCHEMA_REGISTRY_URL, …
    "bootstrap.servers": "localhost:1", "key.converter": STRING, "value.converter": AVRO,
    "value.converter.schema.registry.url": "http://schema-registry:8081", "value.converter.schemas.enable": "true",
    "internal.key.converter": "org.apache.kafka.connect.json.JsonConverter",
}  # fmt: skip
PLAIN_WORKER = {"bootstrap.servers": "localhost:1", "key.converter": STRING, "value.converter": STRING}
CLOUD = {
    "value.converter": JSON_SCHEMA, "value.converter.schema.registry.url": "https://psrc-1.europe.example.com",
    "value.converter.basic.auth.credentials.source": "USER_INFO",
    "value.converter.schema.registry.basic.auth.user.info": "KEY:SECRET",
    "value.converter.json.fail.invalid.schema": "true", "value.converter.use.optional.for.nonrequired": "true",
}  # fmt: skip
SECURED = {
    "value.converter": PROTOBUF, "value.converter.schema.registry.url": "https://a:8081, https://b:8081",
    "value.converter.schema.registry.ssl.truststore.location": "/etc/kafka/secrets/trust.pem",
    "value.converter.schema.registry.ssl.truststore.type": "PEM", "value.converter.optional.for.nullables": "true",
    "value.converter.auto.register.schemas": "false", "value.converter.use.latest.version": "true",
    "value.converter.latest.compatibility.strict": "false",
}  # fmt: skip
DATABASE = {  # of change events
    "value.converter": AVRO, "value.converter.schema.registry.url": "http://schema-registry:8081",
    "value.converter.enhanced.avro.schema.support": "true", "value.converter.connect.meta.data": "false",
    "value.converter.value.subject.name.strategy": "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy",
}  # fmt: skip


def made(connector: dict[str, str], worker: dict[str, str] = PLAIN_WORKER) -> tuple[Any, RegistrySettings]:
    registered_converter: Any = converters(connector, WorkerConfig(worker)).value
    return registered_converter, registry_settings(registered_converter)


def test_a_worker_says_which_converter_its_connectors_have() -> None:
    registered_converter, settings = made({"name": "jdbc"}, IMAGE)
    assert (registered_converter.plugin_name, settings.urls) == (AVRO, ("http://schema-registry:8081",))


def test_a_connectors_own_converter_takes_nothing_of_the_workers() -> None:
    registered_converter, settings = made(CLOUD, IMAGE)
    assert (registered_converter.plugin_name, registered_converter.optional_for_nonrequired) == (JSON_SCHEMA, True)
    assert settings.urls == ("https://psrc-1.europe.example.com",)
    login = base64.b64encode(b"KEY:SECRET").decode()
    assert (settings.headers, settings.authorizations) == ((), (f"Basic {login}",))
    assert "SECRET" not in repr(settings) + repr(registered_converter) and login not in repr(settings)
    with pytest.raises(ConfigError, match=r"schema\.registry\.url"):
        made({"value.converter": AVRO}, IMAGE)  # as in Kafka Connect: with its class come its own settings


def test_several_servers_and_tls() -> None:
    registered_converter, settings = made(SECURED)
    assert settings.urls == ("https://a:8081", "https://b:8081")
    assert dict(settings.tls) == {
        "ssl.truststore.location": "/etc/kafka/secrets/trust.pem", "ssl.truststore.type": "PEM",
    }  # fmt: skip
    assert (
        registered_converter.optional_nullables,
        registered_converter.use_latest_version,
        registered_converter.auto_register_schemas,
    ) == (
        True,
        True,
        False,
    )


def test_change_events() -> None:
    registered_converter, _ = made(DATABASE)
    assert (registered_converter.enhanced_schemas, registered_converter.meta_data) == (True, False)
    assert registered_converter.value_subject_name_strategy.endswith(".TopicRecordNameStrategy")


APICURIO = {  # as the documentation of change data capture has it
    "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
    "value.converter.apicurio.registry.url": "http://apicurio:8080/apis/registry/v2",
    "value.converter.apicurio.registry.auto-register": "true",
    "value.converter.apicurio.registry.find-latest": "true",
    "value.converter.apicurio.registry.as-confluent": "true",
    "value.converter.apicurio.registry.headers.enabled": "false",
    "value.converter.apicurio.registry.use-id": "contentId",
    "value.converter.apicurio.auth.username": "anna", "value.converter.apicurio.auth.password": "secret",
    "value.converter.schemas.enable": "false",
}  # fmt: skip
BECOMES = {
    "value.converter": AVRO, "value.converter.schema.registry.url": "http://apicurio:8080/apis/ccompat/v7",
    "value.converter.auto.register.schemas": "true", "value.converter.use.latest.version": "true",
    "value.converter.basic.auth.credentials.source": "USER_INFO", "value.converter.basic.auth.user.info": "anna:secret",
}  # fmt: skip


def test_apicurios_options_have_their_places_in_the_notes() -> None:
    notes = Path(__file__).parents[2].joinpath("docs/formats.md").read_text().partition("## Coming from other converters")[2]
    assert APICURIO["value.converter"] in notes
    assert [name for name in APICURIO if name.rpartition(".")[2] not in notes] == []
    assert [name for name in BECOMES if name.removeprefix("value.converter.") not in notes] == []


def test_what_they_become_is_taken() -> None:
    registered_converter, settings = made(BECOMES)
    assert settings.urls == ("http://apicurio:8080/apis/ccompat/v7",)
    assert (registered_converter.auto_register_schemas, registered_converter.use_latest_version) == (True, True)
