from __future__ import annotations

import pytest

from headrace.errors import ConfigError
from headrace.kafka import clients
from headrace.kafka.tls import tls_settings

SSL = {"security.protocol": "SSL"}


def test_without_a_tls_protocol_nothing_counts():
    assert tls_settings({"security.protocol": "SASL_PLAINTEXT", "ssl.truststore.location": "/x.jks"}) == {}


def test_pem_files(tmp_path):
    ca, me = tmp_path / "ca.pem", tmp_path / "me.pem"
    for file in (ca, me):
        file.write_bytes("Société\n-----BEGIN CERTIFICATE-----\n".encode("latin-1"))  # text between them may be of any encoding
    given = {
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(ca), "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(me), "ssl.key.password": "k",
    }  # fmt: skip
    assert tls_settings({**SSL, **given}) == {
        "ssl.ca.location": str(ca),
        "ssl.certificate.location": str(me),
        "ssl.key.location": str(me),
        "ssl.key.password": "k",
        "ssl.endpoint.identification.algorithm": "https",
    }


def test_pem_texts():
    given = {"ssl.truststore.certificates": "CA", "ssl.keystore.certificate.chain": "CHAIN", "ssl.keystore.key": "KEY"}
    found = tls_settings({"security.protocol": "SASL_SSL", **given})
    assert (found["ssl.ca.pem"], found["ssl.certificate.pem"], found["ssl.key.pem"]) == ("CA", "CHAIN", "KEY")


def test_an_empty_algorithm_switches_the_host_name_check_off():
    found = tls_settings({**SSL, "ssl.endpoint.identification.algorithm": ""})
    assert found["ssl.endpoint.identification.algorithm"] == "none"


def test_cipher_suites_have_openssls_names_and_are_taken():
    suites = "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
    given = {**SSL, "ssl.cipher.suites": suites}
    assert tls_settings(given)["ssl.cipher.suites"] == "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"
    clients.producer(given)
    assert "ssl.cipher.suites" not in tls_settings({**SSL, "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"})


def test_a_pem_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "der").write_bytes(b"\x30\x82\x01\x0a")
    for store in ("truststore", "keystore"):
        location = f"ssl.{store}.location"
        for file, why in (("none", "No such file or directory"), ("der", "not PEM")):
            with pytest.raises(ConfigError) as error:
                clients.producer({**SSL, f"ssl.{store}.type": "PEM", location: str(tmp_path / file)})
            assert error.value.message == f"{location}: {tmp_path / file} cannot be read ({why})."


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])
@pytest.mark.slow
def test_a_store_that_cannot_be_read_is_one_sentence(kind, tmp_path):
    (tmp_path / "damaged").write_text("no store")
    for store in ("truststore", "keystore"):
        location = f"ssl.{store}.location"
        with pytest.raises(ConfigError, match=f"{location}: .*damaged cannot be read as a store of type {kind}"):
            tls_settings({**SSL, f"ssl.{store}.type": kind, location: str(tmp_path / "damaged")})
        with pytest.raises(ConfigError, match=rf"{location}: /no/such cannot be read \(No such file or directory\)\."):
            tls_settings({**SSL, f"ssl.{store}.type": kind, location: "/no/such"})
