"""Reads `sasl.jaas.config`, one login module and its options, and JAAS files, which have such modules under names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.errors import ConfigError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[^\s=;"\']+|[=;]', re.DOTALL)
_FILE_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|[{}=;]|[^\s{}=;"]+', re.DOTALL)
_FLAGS = {"required", "requisite", "sufficient", "optional"}


@dataclass(frozen=True)
class Login:
    """The login module and its options."""

    module: str
    """The name of the class without its package."""
    options: Mapping[str, str]


def parse_jaas(text: str) -> Login:
    """Parse `MODULE required key="value" …;`.

    Takes the text of `sasl.jaas.config` (KIP-85). Raises ConfigError, which never repeats the text: it holds the password.
    """
    return _login(_TOKEN.findall(text))


def _login(tokens: list[str]) -> Login:
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";" or ";" in tokens[:-1]:
        raise _invalid()
    options, remaining = {}, tokens[2:-1]
    while remaining:
        if len(remaining) < 3 or remaining[1] != "=":
            raise _invalid()
        options[remaining[0]] = _unquote(remaining[2])
        remaining = remaining[3:]
    return Login(tokens[0].rpartition(".")[2], options)


def parse_jaas_file(text: str) -> dict[str, list[Login]]:
    """Parse a JAAS file: entries `NAME { MODULE FLAG key="value" …; … };` by their name, in Java's syntax, with its comments.

    Raises ConfigError, which never repeats the text.
    """
    tokens = [token for token in _FILE_TOKEN.findall(text) if not token.startswith(("//", "/*"))]
    logins: dict[str, list[Login]] = {}
    while tokens:
        if len(tokens) < 2 or tokens[1] != "{" or "}" not in tokens:
            raise _invalid_file()
        end = tokens.index("}")
        logins[_unquote(tokens[0])] = _logins(tokens[2:end])
        tokens = tokens[end + 2 :] if tokens[end + 1 : end + 2] == [";"] else tokens[end + 1 :]
    return logins


def _logins(tokens: list[str]) -> list[Login]:
    logins = []
    while tokens:
        if ";" not in tokens:
            raise _invalid_file()
        end = tokens.index(";") + 1
        try:
            logins.append(_login(tokens[:end]))
        except ConfigError:
            raise _invalid_file() from None
        tokens = tokens[end:]
    return logins


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if token[0] in "\"'" else token


def _invalid() -> ConfigError:
    return ConfigError(
        "Invalid value [hidden] for configuration sasl.jaas.config: it must be one login module with its options, "
        'like org.apache.kafka.common.security.plain.PlainLoginModule required username="USER" password="PASSWORD";'
    )


def _invalid_file() -> ConfigError:
    return ConfigError('The JAAS file cannot be read: it has to have entries like NAME { MODULE required key="value"; };')
