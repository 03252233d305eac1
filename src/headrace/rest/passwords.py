"""Passwords as they may lie in a file: scrypt (RFC 7914), `scrypt$<log2 n>$<r>$<p>$<salt>$<key>`, the last two in base64."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re

from headrace.errors import ConfigError

_LOG_N, _R, _P = 14, 8, 1  # 16 MiB and some 40 ms for each check
_FORM = re.compile(r"scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w+/=]+)\$([\w+/=]+)")
_MAX_MEMORY = 256 * 1024 * 1024


def hashed(password: str) -> str:
    """A password's hash, with a salt of its own."""
    salt = os.urandom(16)
    key = _key(password, salt, (_LOG_N, _R, _P))
    return f"scrypt${_LOG_N}${_R}${_P}${_text(salt)}${_text(key)}"


def check_form(hash_text: str) -> None:
    """Raise ConfigError, without the text, if this is not a hash that `fits` can read."""
    match = _FORM.fullmatch(hash_text)
    try:
        if match and 128 * int(match[3]) * int(match[2]) * 2 ** int(match[1]) < _MAX_MEMORY // 2:
            for part in (match[4], match[5]):
                base64.b64decode(part, validate=True)
            return
    except ValueError:
        pass
    raise ConfigError("what stands behind the roles is no hash of a password; make one with `headrace hash-password`.")


def fits(password: str, hash_text: str) -> bool:
    """Whether this is the password; takes as long whether or not it is. hash_text: of the right form."""
    match = _FORM.fullmatch(hash_text)
    assert match
    salt, key = (base64.b64decode(match[n]) for n in (4, 5))
    cost = (int(match[1]), int(match[2]), int(match[3]))
    return hmac.compare_digest(_key(password, salt, cost, len(key)), key)


def _key(password: str, salt: bytes, cost: tuple[int, int, int], length: int = 32) -> bytes:
    log_n, r, p = cost
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=2**log_n, r=r, p=p, maxmem=_MAX_MEMORY, dklen=length)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
