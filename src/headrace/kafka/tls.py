"""TLS settings of the Java clients for librdkafka, which reads PEM, and PKCS#12 for the client's own key."""

from __future__ import annotations

from collections.abc import Mapping

from headrace.errors import ConfigError


def tls_settings(props: Mapping[str, str]) -> dict[str, str]:
    """Translate `ssl.*`.

    Takes Java client settings; returns librdkafka's, empty if `security.protocol` has no SSL in it.
    Raises ConfigError for a store that only a JVM can read.
    """
    if "SSL" not in props.get("security.protocol", "").strip().upper().split("_"):
        return {}
    return {**_trust(props), **_key(props), **_host_name_check(props)}


def _trust(props: Mapping[str, str]) -> dict[str, str]:
    if pem := props.get("ssl.truststore.certificates"):
        return {"ssl.ca.pem": pem}
    location = props.get("ssl.truststore.location", "").strip()
    if not location:
        return {}
    kind = props.get("ssl.truststore.type", "JKS").strip().upper()
    if kind != "PEM":
        raise ConfigError(
            f"ssl.truststore.location: '{location}' is of type {kind} and cannot be read without a JVM; export the certificates "
            "as PEM and set ssl.truststore.type=PEM, with the file in ssl.truststore.location or the text in "
            "ssl.truststore.certificates."
        )
    return {"ssl.ca.location": location}


def _key(props: Mapping[str, str]) -> dict[str, str]:
    password = props.get("ssl.key.password")
    secret = {"ssl.key.password": password} if password else {}
    if chain := props.get("ssl.keystore.certificate.chain"):
        return {"ssl.certificate.pem": chain, "ssl.key.pem": props.get("ssl.keystore.key", ""), **secret}
    location = props.get("ssl.keystore.location", "").strip()
    if not location:
        return {}
    kind = props.get("ssl.keystore.type", "JKS").strip().upper()
    if kind == "PEM":  # one file with the key and the chain: OpenSSL takes from it what it looks for
        return {"ssl.certificate.location": location, "ssl.key.location": location, **secret}
    if kind == "PKCS12":
        store = props.get("ssl.keystore.password")
        return {"ssl.keystore.location": location, **({"ssl.keystore.password": store} if store else {})}
    raise ConfigError(
        f"ssl.keystore.location: '{location}' is of type {kind} and cannot be read without a JVM; convert it to PKCS#12 "
        "(ssl.keystore.type=PKCS12) or PEM (ssl.keystore.type=PEM, or ssl.keystore.certificate.chain and ssl.keystore.key)."
    )


def _host_name_check(props: Mapping[str, str]) -> dict[str, str]:
    algorithm = props.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    return {"ssl.endpoint.identification.algorithm": algorithm or "none"}
