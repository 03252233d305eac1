from __future__ import annotations

import pytest

from headrace.config.secrets import HIDDEN, Secrets, put_back
from headrace.errors import BadRequestError

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
     "connection.password", "aws.secret.access.key", "client_secret", "DB_PASSWORD", "azure.api-key", "auth.token",
     "option.fs.azure.account.key.acct.dfs.core.windows.net", "option.fs.azure.sas.c.acct.blob.core.windows.net",
     "option.fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net", "azure.storage.account.key", "option.pass",
     "request.header.Authorization", "value.converter.request.header.X-Key"],
)  # fmt: skip
def test_of_undefined_keys_the_name_decides(key: str):
    assert Secrets().hides(key)


@pytest.mark.parametrize(
    "key",
    ["topic", "key.converter", "transforms.key.type", "tokenizer", "sasl.mechanism", "partition.key", "bypass",
     "option.fs.azure.account.auth.type.acct.dfs.core.windows.net", "option.fs.azure.sas.token.provider.type"],
)  # fmt: skip
def test_other_keys_are_shown(key: str):
    assert not Secrets().hides(key)


def test_a_hidden_value_is_kafkas_word_and_no_value_stays_none():
    assert (Secrets().shown("password", ""), Secrets().shown("password", None)) == (HIDDEN, None)
    assert Secrets().shown("topic", "t") == "t"


def test_the_placeholder_of_a_provider_stays_readable():
    assert Secrets().shown("password", "${file:/run/secrets:db}") == "${file:/run/secrets:db}"
    assert Secrets().shown("password", "x${file:/run/secrets:db}") == HIDDEN


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("s3a://KEY:SE/CRET@bucket/x", "s3a://[hidden]@bucket/x"),
        ("http://a:8081,https://u:p@b:8081", "http://a:8081,https://[hidden]@b:8081"),
        ("jdbc:oracle:thin:scott/tiger@host:1521", "jdbc:oracle:thin:[hidden]@host:1521"),
        ("jdbc:postgresql://h/d?user=x&password=y&ssl=1", "jdbc:postgresql://h/d?user=x&password=[hidden]&ssl=1"),
        ("https://h/c?sv=1&sig=abc", "https://h/c?sv=1&sig=[hidden]"),
        ("https://${env:USER}:${env:PASSWORD}@h", "https://${env:USER}:${env:PASSWORD}@h"),
        ("https://h/a@b?partition.key=v", "https://h/a@b?partition.key=v"),
        ("https://user:p@ss@host", "https://[hidden]@host"),
        ("https://u:p@a:1,https://v:q@b:2", "https://[hidden]@a:1,https://[hidden]@b:2"),
        ("https://u:p@h?password=q", "https://[hidden]@h?password=[hidden]"),
        ("h1:9092,SASL_SSL://h2:9092", "h1:9092,SASL_SSL://h2:9092"),
        ("jdbc:oracle:thin:scott/p@ss@host:1521", "jdbc:oracle:thin:[hidden]@host:1521"),
        ("jdbc:sqlserver://h;password={x;y}}z};user=u", "jdbc:sqlserver://h;password=[hidden];user=u"),
        ("jdbc:sqlserver://h;user=u;password=p@ss;encrypt=true", "jdbc:sqlserver://[hidden];encrypt=true"),
        ("jdbc:sqlserver://h;password={a;b@c}}@d};user=u", "jdbc:sqlserver://[hidden];user=u"),
        ("jdbc:mysql://h/d?password=p@ss&ssl=1", "jdbc:mysql://h/d?password=[hidden]&ssl=1"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net/x"),
        ("wasbs://box@account.blob.core.windows.net/x?sig=a", "wasbs://box@account.blob.core.windows.net/x?sig=[hidden]"),
    ],
)
def test_what_stands_in_a_url_as_a_login_is_hidden(value: str, shown: str):
    assert Secrets().shown("schema.registry.url", value) == shown


def test_what_was_shown_can_be_put_back_and_nothing_else():
    running = {"url": "https://u:p@h", "password": "s3cret", "topic": "t"}
    shown = Secrets().public(running)
    assert put_back({**shown, "topic": "u", "empty": None}, running) == {**running, "topic": "u", "empty": None}
    for changed in ({"url": "https://[hidden]@other"}, {"secret": HIDDEN}):
        with pytest.raises(BadRequestError, match="write it in full"):
            put_back({**shown, **changed}, running)
