"""`${env:VARIABLE}`: an environment variable of the worker (KIP-887)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set

import structlog

from headrace.config.config import Config
from headrace.config.definition import ConfigDef
from headrace.config.java_pattern import JavaRegexError, java_regex
from headrace.config.option import option
from headrace.config.providers.base import ConfigProvider
from headrace.config.types import Importance, Type
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)

_PATTERN = "allowlist.pattern"


class _Params(Config):
    pattern: str = option(
        _PATTERN,
        Type.STRING,
        ".*",
        importance=Importance.MEDIUM,
        doc="A regular expression of Java's that the whole name of a variable has to match.",
    )


@plugin("org.apache.kafka.common.config.provider.EnvVarConfigProvider", Kind.CONFIG_PROVIDER)
class EnvVarConfigProvider(ConfigProvider):
    """There is no path; the key is the name of a variable of the worker's environment, as it was when the worker started."""

    def __init__(self, params: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> None:
        if _PATTERN not in params:
            log.info("No pattern for environment variables provided. Using default pattern '(.*)'.")
        pattern = _Params(params).pattern
        try:
            allowed = java_regex(pattern)
        except JavaRegexError as error:
            raise ConfigError.invalid(_PATTERN, pattern, f"Invalid regex: {error}") from None
        self._variables = {name: value for name, value in environ.items() if allowed.fullmatch(name)}

    @classmethod
    def definition(cls) -> ConfigDef:
        """`allowlist.pattern`."""
        return _Params.definition()

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The variables of these names, as far as they are allowed. Raises ConfigError if there is a path."""
        if path:
            raise ConfigError(f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'")
        return {key: self._variables[key] for key in keys if key in self._variables}
