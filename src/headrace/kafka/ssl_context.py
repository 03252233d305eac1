"""Python's TLS contexts by Kafka's `ssl.*` settings, with key stores of every type (`headrace.jvm.key_stores`)."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path

from headrace.config.client_options import client_value
from headrace.config.types import comma_separated
from headrace.errors import ConfigError
from headrace.jvm.key_stores import store_pem

_PROTOCOLS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def client_context(props: Mapping[str, str]) -> ssl.SSLContext:
    """What a client needs that has these `ssl.*` settings. Raises ConfigError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    set_versions(context, props)
    context.check_hostname = client_value("admin", props, "ssl.endpoint.identification.algorithm") != ""
    load_key(context, props)
    if not load_trust(context, props):
        context.load_default_certs()
    return context


def set_versions(context: ssl.SSLContext, props: Mapping[str, str]) -> None:
    """The protocols and cipher suites of `ssl.enabled.protocols` and `ssl.cipher.suites`. Raises ConfigError."""
    names = client_value("admin", props, "ssl.enabled.protocols")
    if not names or any(name not in _PROTOCOLS for name in names):
        raise ConfigError.invalid("ssl.enabled.protocols", ",".join(names), "there are TLSv1.2 and TLSv1.3")
    context.minimum_version = min(_PROTOCOLS[name] for name in names)
    context.maximum_version = max(_PROTOCOLS[name] for name in names)
    suites = openssl_suites(props)
    if suites:
        try:
            context.set_ciphers(":".join(suites))
        except ssl.SSLError:
            raise ConfigError.invalid("ssl.cipher.suites", props["ssl.cipher.suites"], "OpenSSL knows none of these") from None


def openssl_suites(props: Mapping[str, str]) -> list[str]:
    """OpenSSL's names of the suites of TLS 1.2 in `ssl.cipher.suites`: it always offers those of 1.3, which have no "WITH"."""
    return [openssl_name(suite) for suite in comma_separated(props.get("ssl.cipher.suites", "")) if "_WITH_" in suite]


def openssl_name(suite: str) -> str:
    """What OpenSSL calls a cipher suite of TLS 1.2: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is ECDHE-RSA-AES128-GCM-SHA256."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_128", "AES128").replace("AES_256", "AES256").replace("_CBC", "")
    cipher = "CHACHA20-POLY1305" if cipher.startswith("CHACHA20") else cipher.replace("_", "-")
    return cipher if exchange == "RSA" else f"{exchange.replace('_', '-')}-{cipher}"


def load_key(context: ssl.SSLContext, props: Mapping[str, str]) -> bool:
    """Load key and certificates of `ssl.keystore.*`, by a file that nobody else may read and that is gone afterwards.

    False if none are set.
    """
    texts = "\n".join(props.get(f"ssl.keystore.{part}", "") for part in ("key", "certificate.chain"))
    pem = texts if texts.strip() else store_pem(props, "keystore")
    if pem is None:
        return False
    password = props.get("ssl.key.password", "")
    with tempfile.TemporaryDirectory(prefix="headrace-tls-") as directory:
        path = Path(directory, "key.pem")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(pem)
        try:
            context.load_cert_chain(path, password=lambda: password)
        except (ssl.SSLError, ValueError) as error:
            why = getattr(error, "reason", None) or "no key, or a password that is too long"
            raise ConfigError(
                f"The key of ssl.keystore.* cannot be used ({why}): see ssl.keystore.*, ssl.key.password."
            ) from None
    return True


def load_trust(context: ssl.SSLContext, props: Mapping[str, str]) -> bool:
    """Load the certificates of `ssl.truststore.*`; False if none are set. Raises ConfigError."""
    texts = props.get("ssl.truststore.certificates", "")
    pem = texts if texts.strip() else store_pem(props, "truststore")
    if pem is None:
        return False
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        raise ConfigError("The certificates of ssl.truststore.* cannot be used: there are none, or they are damaged.") from None
    return True
