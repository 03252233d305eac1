"""Reads `sasl.jaas.config`: one login module and its options, in the syntax of a JAAS configuration file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.errors import ConfigError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[^\s=;"\']+|[=;]', re.DOTALL)
_FLAGS = {"required", "requisite", "sufficient", "optional"}


@dataclass(frozen=True)
class Login:
    """The login module (class name without its package) and its options."""

    module: str
    options: Mapping[str, str]


def parse_jaas(text: str) -> Login:
    """Parse `MODULE required key="value" …;`.

    Takes the text of `sasl.jaas.config` (KIP-85). Raises ConfigError, which never repeats the text: it holds the password.
    """
    tokens = _TOKEN.findall(text)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";" or ";" in tokens[:-1]:
        raise _invalid()
    options, rest = {}, tokens[2:-1]
    while rest:
        if len(rest) < 3 or rest[1] != "=":
            raise _invalid()
        options[rest[0]] = _unquote(rest[2])
        rest = rest[3:]
    return Login(tokens[0].rpartition(".")[2], options)


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if token[0] in "\"'" else token


def _invalid() -> ConfigError:
    return ConfigError(
        "Invalid value [hidden] for configuration sasl.jaas.config: it must be one login module with its options, "
        'like org.apache.kafka.common.security.plain.PlainLoginModule required username="USER" password="PASSWORD";'
    )
