from __future__ import annotations

import pytest

from headrace.errors import ConfigError
from headrace.kafka.tls import tls_settings

SSL = {"security.protocol": "SSL"}


def test_without_a_tls_protocol_nothing_counts():
    assert tls_settings({"security.protocol": "SASL_PLAINTEXT", "ssl.truststore.location": "/x.jks"}) == {}


def test_pem_files():
    given = {
        "ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem", "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/me.pem", "ssl.key.password": "k",
    }  # fmt: skip
    assert tls_settings({**SSL, **given}) == {
        "ssl.ca.location": "/ca.pem",
        "ssl.certificate.location": "/me.pem",
        "ssl.key.location": "/me.pem",
        "ssl.key.password": "k",
        "ssl.endpoint.identification.algorithm": "https",
    }


def test_pem_texts():
    given = {"ssl.truststore.certificates": "CA", "ssl.keystore.certificate.chain": "CHAIN", "ssl.keystore.key": "KEY"}
    found = tls_settings({"security.protocol": "SASL_SSL", **given})
    assert (found["ssl.ca.pem"], found["ssl.certificate.pem"], found["ssl.key.pem"]) == ("CA", "CHAIN", "KEY")


def test_pkcs12_for_the_clients_own_key():
    given = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/me.p12", "ssl.keystore.password": "s"}
    found = tls_settings({**SSL, **given})
    assert (found["ssl.keystore.location"], found["ssl.keystore.password"]) == ("/me.p12", "s")


def test_an_empty_algorithm_switches_the_host_name_check_off():
    found = tls_settings({**SSL, "ssl.endpoint.identification.algorithm": ""})
    assert found["ssl.endpoint.identification.algorithm"] == "none"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ssl.truststore.location": "/t.jks"},
            "'/t.jks' is of type JKS and cannot be read without a JVM; export the certificates",
        ),
        ({"ssl.truststore.location": "/t.p12", "ssl.truststore.type": "PKCS12"}, "'/t.p12' is of type PKCS12"),
        ({"ssl.keystore.location": "/k.jks"}, "'/k.jks' is of type JKS and cannot be read without a JVM; convert it to PKCS#12"),
    ],
)
def test_stores_of_the_jvm_are_refused_with_the_remedy(given, message):
    with pytest.raises(ConfigError) as raised:
        tls_settings({**SSL, **given})
    assert message in str(raised.value)
