"""Key stores and trust stores of Kafka's `ssl.*` settings as PEM: the types PEM, PKCS12 and JKS.

OpenSSL, which Python and librdkafka use, reads PEM. Other types are read by the Java that Spark needs anyway
(`KeyStorePem.java`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from headrace.errors import ConfigError
from headrace.jvm.jars import extension_jar
from headrace.jvm.java import find_java

_READ_S = 60

Store = Literal["keystore", "truststore"]


def location(props: Mapping[str, str], store: Store) -> str:
    """The file of a store, empty if none is set."""
    return props.get(f"ssl.{store}.location", "").strip()


def store_type(props: Mapping[str, str], store: Store) -> str:
    """PEM, PKCS12, JKS or whatever else this Java knows."""
    return props.get(f"ssl.{store}.type", "JKS").strip().upper()


def store_pem(props: Mapping[str, str], store: Store) -> str | None:
    """The keys, not encrypted unless the store is of type PEM, and certificates of a store; None if no file is set.

    Raises ConfigError for a file that cannot be read.
    """
    path, kind = location(props, store), store_type(props, store)
    if not path:
        return None
    try:
        content, version = Path(path).read_bytes(), Path(path).stat()
    except OSError as error:
        raise ConfigError(f"ssl.{store}.location: {path} cannot be read ({error.strerror}).") from None
    if kind == "PEM":
        if b"-----BEGIN " not in content:
            raise ConfigError(f"ssl.{store}.location: {path} cannot be read (not PEM).")
        return content.decode("utf-8", "replace")  # between the certificates of a bundle there may be text in any encoding
    key_password = props.get("ssl.key.password", "") if store == "keystore" else ""
    passwords = (props.get(f"ssl.{store}.password", ""), key_password)
    return _read_by_java(store, kind, path, passwords, (version.st_mtime_ns, version.st_size))


@lru_cache(maxsize=32)  # clients are created often, and starting Java is slow
def _read_by_java(store: Store, kind: str, path: str, passwords: tuple[str, str], _version: tuple[int, int]) -> str:
    command = [str(find_java().program), "-cp", str(extension_jar()), "io.headrace.KeyStorePem", kind, path]
    text = "".join(f"{password}\n" for password in passwords)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", timeout=_READ_S, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(f"ssl.{store}.location: {path} cannot be read as a store of type {kind} ({why}).")
    return done.stdout
