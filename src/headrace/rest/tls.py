"""TLS of `https://` listeners, by Kafka's `ssl.*` settings: key stores of type PEM, PKCS12 and JKS.

As in Kafka Connect, the settings under the prefix of the listeners (`listeners.https.`) count, and if there are none at all those
without a prefix. Python reads PEM only; other stores are read by the Java that Spark needs anyway (`KeyStorePem.java`).
"""

from __future__ import annotations

import os
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import ConfigError
from headrace.jvm.jars import extension_jar
from headrace.jvm.java import find_java
from headrace.runtime.worker_config import WorkerConfig

LISTENERS, ADMIN_LISTENERS = "listeners.https.", "admin.listeners.https."
_PROTOCOLS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
_READ_S = 60


def server_context(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.SSLContext:
    """What a listener needs. Raises ConfigError for what is missing, or cannot be read."""
    props = _settings(config, prefix)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _set_versions(context, props)
    if not _load_key(context, props):
        raise ConfigError(
            "An https:// listener needs a key: set ssl.keystore.location, or ssl.keystore.key and its certificate chain."
        )
    context.verify_mode = client_auth(config, prefix)
    if context.verify_mode != ssl.CERT_NONE and not _load_trust(context, props):
        raise ConfigError("ssl.client.auth needs the certificates that clients are trusted by: set ssl.truststore.location.")
    return context


def client_context(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.SSLContext:
    """What a worker needs to call another worker of its group, configured alike. Raises ConfigError."""
    props = _settings(config, prefix)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _set_versions(context, props)
    context.check_hostname = props.get("ssl.endpoint.identification.algorithm", "https").strip() != ""
    _load_key(context, props)
    if not _load_trust(context, props):
        context.load_default_certs()
    return context


def client_auth(config: WorkerConfig, prefix: str = LISTENERS) -> ssl.VerifyMode:
    """Whether clients have to show a certificate (`ssl.client.auth`). Raises ConfigError."""
    value = _settings(config, prefix).get("ssl.client.auth", "none").strip()
    if value not in _CLIENT_AUTH:
        raise ConfigError.invalid("ssl.client.auth", value, f"must be one of: {', '.join(_CLIENT_AUTH)}")
    return _CLIENT_AUTH[value]


def _settings(config: WorkerConfig, prefix: str) -> dict[str, str]:
    given = {k: str(v) for k, v in config.originals.items() if v is not None}
    own = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
    return own or {k: v for k, v in given.items() if k.startswith("ssl.")}


def _set_versions(context: ssl.SSLContext, props: Mapping[str, str]) -> None:
    names = _list(props.get("ssl.enabled.protocols", "TLSv1.2,TLSv1.3"))
    if not names or any(name not in _PROTOCOLS for name in names):
        raise ConfigError.invalid("ssl.enabled.protocols", ",".join(names), "there are TLSv1.2 and TLSv1.3")
    context.minimum_version = min(_PROTOCOLS[name] for name in names)
    context.maximum_version = max(_PROTOCOLS[name] for name in names)
    suites = [suite for suite in _list(props.get("ssl.cipher.suites", "")) if "_WITH_" in suite]
    if suites:  # those of TLS 1.3 have no "WITH", and are OpenSSL's own choice
        try:
            context.set_ciphers(":".join(map(openssl_name, suites)))
        except ssl.SSLError:
            raise ConfigError.invalid("ssl.cipher.suites", ",".join(suites), "OpenSSL knows none of these") from None


def openssl_name(suite: str) -> str:
    """What OpenSSL calls a cipher suite of TLS 1.2: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is ECDHE-RSA-AES128-GCM-SHA256."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_128", "AES128").replace("AES_256", "AES256").replace("_CBC", "")
    cipher = "CHACHA20-POLY1305" if cipher.startswith("CHACHA20") else cipher.replace("_", "-")
    return cipher if exchange == "RSA" else f"{exchange.replace('_', '-')}-{cipher}"


def _load_key(context: ssl.SSLContext, props: Mapping[str, str]) -> bool:
    """Load key and certificates, by a file that nobody else may read and that is gone afterwards; False if none are set."""
    pem = _store(props, "keystore", "\n".join(props.get(f"ssl.keystore.{part}", "") for part in ("key", "certificate.chain")))
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
                f"The key of the https:// listeners cannot be used ({why}): see ssl.keystore.*, ssl.key.password."
            ) from None
    return True


def _load_trust(context: ssl.SSLContext, props: Mapping[str, str]) -> bool:
    pem = _store(props, "truststore", props.get("ssl.truststore.certificates", ""))
    if pem is None:
        return False
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        raise ConfigError("The certificates of ssl.truststore.* cannot be used: there are none, or they are damaged.") from None
    return True


def _store(props: Mapping[str, str], what: str, given: str) -> str | None:
    """A store as PEM text, None if there is none. given: what the settings themselves hold."""
    if given.strip():
        return given
    location, kind = props.get(f"ssl.{what}.location", "").strip(), props.get(f"ssl.{what}.type", "JKS").strip().upper()
    if not location:
        return None
    try:
        if kind == "PEM":
            return Path(location).read_text(encoding="utf-8")
        with Path(location).open("rb"):
            pass
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not PEM"
        raise ConfigError(f"ssl.{what}.location: {location} cannot be read ({why}).") from None
    key_password = props.get("ssl.key.password", "") if what == "keystore" else ""
    return _converted(what, kind, location, (props.get(f"ssl.{what}.password", ""), key_password))


def _converted(what: str, kind: str, location: str, passwords: tuple[str, str]) -> str:
    command = [str(find_java().program), "-cp", str(extension_jar()), "io.headrace.KeyStorePem", kind, location]
    text = "".join(f"{password}\n" for password in passwords)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", timeout=_READ_S, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(f"ssl.{what}.location: {location} cannot be read as a store of type {kind} ({why}).")
    return done.stdout


def _list(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
