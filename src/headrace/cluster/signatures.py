"""Signatures of requests between workers (KIP-507): an HMAC of the body with the session key of the config topic."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import string
from collections.abc import Mapping

from headrace.cluster.records import SessionKey
from headrace.config import java_text
from headrace.errors import BadRequestError, RestError
from headrace.runtime.distributed_config import ALGORITHMS, DistributedConfig
from headrace.values.times import now_ms

SIGNATURE, ALGORITHM = "X-Connect-Authorization", "X-Connect-Request-Signature-Algorithm"
_JAVA_ALGORITHMS = frozenset(map(str.lower, ALGORITHMS))
_BASE64 = frozenset(string.ascii_letters + string.digits + "+/=")


def new_key(config: DistributedConfig) -> SessionKey:
    """A new random key of the configured algorithm and size (by default the algorithm's own)."""
    digest = getattr(hashlib, ALGORITHMS[config.key_generation_algorithm])
    size = config.key_size // 8 if config.key_size else digest().digest_size
    secret = base64.b64encode(secrets.token_bytes(size)).decode()
    return SessionKey(secret, config.key_generation_algorithm, now_ms())


def expires_ms(key: SessionKey | None, config: DistributedConfig) -> int:
    """When the key has to be replaced, in epoch ms; 0 without a key, or if its algorithm is not the configured one."""
    if key is None or key.algorithm != config.key_generation_algorithm:
        return 0
    return key.creation_timestamp_ms + config.key_ttl_ms


def sign(body: bytes, key: SessionKey, algorithm: str) -> dict[str, str]:
    """The headers that sign a request of a worker of the group. algorithm: Java's name (`HmacSHA256`)."""
    return {SIGNATURE: base64.b64encode(_mac(body, key, algorithm)).decode(), ALGORITHM: algorithm}


def verify(body: bytes, headers: Mapping[str, str], key: SessionKey | None, config: DistributedConfig) -> None:
    """Raise BadRequestError or RestError (403, 503), in Kafka's words, unless the request is signed by a worker of the group.

    headers: of any case, as starlette gives them.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    signature_text, algorithm = lowered.get(SIGNATURE.lower()), lowered.get(ALGORITHM.lower())
    if signature_text is None or algorithm is None:
        raise BadRequestError("Internal request missing required signature")
    if algorithm.lower() not in _JAVA_ALGORITHMS:
        raise BadRequestError(f"Algorithm {algorithm} not available")
    signature = _decoded(signature_text)
    if algorithm not in config.verification_algorithms:
        raise BadRequestError(
            f"This worker does not support the '{algorithm}' key signing algorithm used by other workers. "
            f"This worker is currently configured to use: {java_text(config.verification_algorithms)}. "
            "Check that all workers' configuration files permit the same set of signature algorithms, and correct any "
            "misconfigured worker and restart it."
        )
    if key is None:
        raise RestError(
            503, "This worker is still starting up and has not been able to read a session key from the config topic yet"
        )
    if not hmac.compare_digest(signature, _mac(body, key, algorithm)):
        raise RestError(403, "Internal request contained invalid signature.")


def _decoded(text: str) -> bytes:
    """A signature as bytes, with the errors of Java's decoder, which needs no padding."""
    strange = next((character for character in text if character not in _BASE64), None)
    if strange is not None:
        raise BadRequestError(f"Illegal base64 character {ord(strange):x}")
    digits = text.rstrip("=")
    if "=" in digits or len(digits) % 4 == 1 or (digits != text and len(text) % 4):
        raise BadRequestError("Input byte array has wrong 4-byte ending unit")
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def _mac(body: bytes, key: SessionKey, algorithm: str) -> bytes:
    return hmac.new(base64.b64decode(key.secret), body, ALGORITHMS[algorithm]).digest()
