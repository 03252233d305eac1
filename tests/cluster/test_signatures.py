"""Requests between workers are signed (KIP-507), with Kafka Connect's headers and answers."""

from __future__ import annotations

import pytest

from headrace.cluster.records import SessionKey
from headrace.cluster.signatures import expires_ms, new_key, sign, verify
from headrace.errors import HeadraceError
from headrace.runtime.distributed_config import DistributedConfig

CONVERTER = "org.apache.kafka.connect.storage.StringConverter"
PROPS = {
    "group.id": "g", "key.converter": CONVERTER, "value.converter": CONVERTER,
    "config.storage.topic": "c", "offset.storage.topic": "o", "status.storage.topic": "s",
}  # fmt: skip
CONFIG = DistributedConfig(PROPS)


def test_what_one_worker_signs_another_accepts():
    key = new_key(CONFIG)
    headers = {name.upper(): value for name, value in sign(b"[]", key, "HmacSHA256").items()}
    verify(b"[]", headers, key, CONFIG)


def test_a_signature_is_the_one_that_kafka_connect_makes():
    key = SessionKey("a2V5", "HmacSHA256", 0)  # "key"
    signed = sign(b"The quick brown fox jumps over the lazy dog", key, "HmacSHA256")
    assert signed["X-Connect-Authorization"] == "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg="  # RFC test vector


KEY = new_key(CONFIG)


@pytest.mark.parametrize(
    ("body", "headers", "key", "status", "message"),
    [
        (b"", {}, KEY, 400, "Internal request missing required signature"),
        (b"", {"X-Connect-Authorization": "YQ=="}, KEY, 400, "Internal request missing required signature"),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Request-Signature-Algorithm": "HmacMD5"}, KEY, 400,
         "This worker does not support the 'HmacMD5' key signing algorithm used by other workers."),
        (b"", sign(b"", KEY, "HmacSHA256"), None, 503, "This worker is still starting up"),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Request-Signature-Algorithm": "HmacSHA1"}, KEY, 400,
         "currently configured to use: [HmacSHA256]. Check"),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Request-Signature-Algorithm": "foo"}, KEY, 400,
         "Algorithm foo not available"),
        (b"other", sign(b"", KEY, "HmacSHA256"), KEY, 403, "Internal request contained invalid signature."),
        (b"", sign(b"", new_key(CONFIG), "HmacSHA256"), KEY, 403, "Internal request contained invalid signature."),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Authorization": "!!"}, None, 400, "Illegal base64 character 21"),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Authorization": "YQ="}, KEY, 400, "wrong 4-byte ending unit"),
        (b"", {**sign(b"", KEY, "HmacSHA256"), "X-Connect-Authorization": "YQ"}, KEY, 403, "contained invalid signature."),
    ],
)  # fmt: skip
def test_what_was_not_signed_by_a_worker_is_refused(body, headers, key, status, message):
    with pytest.raises(HeadraceError) as raised:
        verify(body, headers, key, CONFIG)
    assert (raised.value.status, message in str(raised.value)) == (status, True)


def test_a_key_lasts_as_long_as_it_is_told_and_is_of_the_configured_kind():
    key = new_key(CONFIG)
    assert expires_ms(key, CONFIG) == key.creation_timestamp_ms + 3_600_000
    assert expires_ms(None, CONFIG) == 0
    other = DistributedConfig({**PROPS, "inter.worker.key.generation.algorithm": "HmacSHA512", "inter.worker.key.size": "256"})
    assert expires_ms(key, other) == 0
    assert len(new_key(other).secret) == 44  # base64 of 32 bytes
