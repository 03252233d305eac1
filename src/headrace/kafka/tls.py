"""TLS settings of the Java clients for librdkafka; stores of Java's types are converted to PEM texts."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.config.client_options import client_value
from headrace.jvm.key_stores import location, store_pem, store_type
from headrace.kafka.ssl_context import openssl_suites


def tls_settings(props: Mapping[str, str]) -> dict[str, str]:
    """Translate `ssl.*`.

    Takes Java client settings; returns librdkafka's, empty if `security.protocol` has no SSL in it.
    Raises ConfigError for a store that cannot be read.
    """
    if "SSL" not in props.get("security.protocol", "").strip().upper().split("_"):
        return {}
    suites = openssl_suites(props)
    return {
        **_trust(props),
        **_key(props),
        **_host_name_check(props),
        **({"ssl.cipher.suites": ":".join(suites)} if suites else {}),
    }


def _trust(props: Mapping[str, str]) -> dict[str, str]:
    if pem := props.get("ssl.truststore.certificates"):
        return {"ssl.ca.pem": pem}
    pem = store_pem(props, "truststore")  # also of type PEM: it says which file cannot be read, where OpenSSL does not
    if pem is None:
        return {}
    if store_type(props, "truststore") == "PEM":
        return {"ssl.ca.location": location(props, "truststore")}
    return {"ssl.ca.pem": pem}


def _key(props: Mapping[str, str]) -> dict[str, str]:
    password = props.get("ssl.key.password")
    secret = {"ssl.key.password": password} if password else {}
    if chain := props.get("ssl.keystore.certificate.chain"):
        return {"ssl.certificate.pem": chain, "ssl.key.pem": props.get("ssl.keystore.key", ""), **secret}
    path, pem = location(props, "keystore"), store_pem(props, "keystore")
    if pem is None:
        return {}
    if store_type(props, "keystore") == "PEM":  # one file with key and chain: OpenSSL finds each in it
        return {"ssl.certificate.location": path, "ssl.key.location": path, **secret}
    return {"ssl.certificate.pem": pem, "ssl.key.pem": pem}


def _host_name_check(props: Mapping[str, str]) -> dict[str, str]:
    algorithm = client_value("admin", props, "ssl.endpoint.identification.algorithm").lower()
    return {"ssl.endpoint.identification.algorithm": algorithm or "none"}
