from __future__ import annotations

import pytest

from headrace.errors import ConfigError
from headrace.kafka import clients
from headrace.kafka.sasl import sasl_settings

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p";'
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


def settings(mechanism: str, jaas: str, **more: str) -> dict[str, str]:
    given = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}
    return sasl_settings({**given, **{name.replace("_", "."): value for name, value in more.items()}})


@pytest.mark.parametrize(("mechanism", "jaas"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)])
def test_user_and_password_come_out_of_the_login_module(mechanism, jaas):
    assert settings(mechanism, jaas) == {"sasl.mechanism": mechanism, "sasl.username": "u", "sasl.password": "p"}


def test_without_a_sasl_protocol_nothing_counts():
    assert sasl_settings({"security.protocol": "SSL", "sasl.mechanism": "NONSENSE"}) == {}


def test_tokens_from_an_endpoint():
    found = settings(
        "OAUTHBEARER",
        f'{OAUTH} clientId="id" clientSecret="s" scope="kafka" extension_logicalCluster="lkc";',
        sasl_oauthbearer_token_endpoint_url="https://idp/token",
    )
    assert found == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
        "sasl.oauthbearer.client.id": "id",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc",
    }


def test_unsecured_tokens():
    found = settings("OAUTHBEARER", f'{OAUTH} unsecuredLoginStringClaim_sub="alice" unsecuredLoginLifetimeSeconds="60";')
    assert found["sasl.oauthbearer.config"] == "principalClaimName=sub principal=alice lifeSeconds=60"
    assert found["enable.sasl.oauthbearer.unsecure.jwt"] == "true"


@pytest.mark.parametrize(
    ("mechanism", "jaas", "more", "message"),
    [
        ("AWS_MSK_IAM", PLAIN, {}, "must be one of: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI"),
        (
            "PLAIN",
            "",
            {},
            "sasl.jaas.config is missing: sasl.mechanism=PLAIN needs it, naming the login module PlainLoginModule.",
        ),
        (
            "PLAIN",
            SCRAM,
            {},
            "the login module ScramLoginModule does not fit sasl.mechanism=PLAIN, which takes PlainLoginModule.",
        ),
        ("PLAIN", PLAIN.replace("username", "user"), {}, "it has no username."),
        ("OAUTHBEARER", f"{OAUTH} ;", {}, "needs sasl.oauthbearer.token.endpoint.url"),
        ("OAUTHBEARER", f"{OAUTH} ;", {"sasl_login_callback_handler_class": "com.x.MyHandler"}, "other ones are Java code"),
    ],
)
def test_what_cannot_be_done_is_said(mechanism, jaas, more, message):
    with pytest.raises(ConfigError) as raised:
        settings(mechanism, jaas, **more)
    assert message in str(raised.value)


def test_kerberos_says_that_this_build_has_none_of_it():
    jaas = 'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="p@R" serviceName="kafka";'
    props = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI", "sasl.jaas.config": jaas}
    assert sasl_settings(props)["sasl.kerberos.keytab"] == "/k"
    with pytest.raises(ConfigError, match="No provider for SASL mechanism GSSAPI"):
        clients.admin(props)
