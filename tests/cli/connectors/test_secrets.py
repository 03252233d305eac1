from __future__ import annotations

import pytest

from headrace.config.secrets import HIDDEN, Secrets

DEFINITIONS = [
    {"name": "login", "type": "PASSWORD"},
    {"name": "password.policy.token", "type": "STRING"},
    {"name": None, "type": None},  # as Kafka Connect describes a key that nothing defines
    None,
]


@pytest.mark.parametrize("key", ["login", "source.login"])
def test_what_the_plugin_calls_a_password_is_hidden(key: str):
    assert Secrets(DEFINITIONS).hides(key)


def test_what_the_plugin_calls_a_string_is_shown_whatever_its_name():
    assert not Secrets(DEFINITIONS).hides("password.policy.token")


@pytest.mark.parametrize(
    "key",
    ["sasl.jaas.config", "producer.override.sasl.jaas.config", "source.ssl.keystore.key", "admin.override.ssl.key.password",
     "connection.password", "aws.secret.access.key", "client_secret", "DB_PASSWORD", "azure.api-key", "auth.token"],
)  # fmt: skip
def test_of_undefined_keys_the_name_decides(key: str):
    assert Secrets().hides(key)


@pytest.mark.parametrize("key", ["topic", "key.converter", "transforms.key.type", "tokenizer", "sasl.mechanism", "partition.key"])
def test_other_keys_are_shown(key: str):
    assert not Secrets().hides(key)


def test_a_hidden_value_is_kafkas_word_and_no_value_stays_none():
    assert (Secrets().shown("password", ""), Secrets().shown("password", None)) == (HIDDEN, None)
    assert Secrets().shown("topic", "t") == "t"


def test_the_placeholder_of_a_provider_stays_readable():
    assert Secrets().shown("password", "${file:/run/secrets:db}") == "${file:/run/secrets:db}"
    assert Secrets().shown("password", "x${file:/run/secrets:db}") == HIDDEN
