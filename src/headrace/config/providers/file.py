"""`${file:/path/of/a.properties:key}`: a property of a properties file."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

import structlog

from headrace.config.definition import ConfigDef
from headrace.config.properties import parse_properties
from headrace.config.providers.allowed_paths import AllowedPaths
from headrace.config.providers.base import ConfigProvider
from headrace.errors import ConfigError, ConnectError
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)


@plugin("org.apache.kafka.common.config.provider.FileConfigProvider", Kind.CONFIG_PROVIDER)
class FileConfigProvider(ConfigProvider):
    """The path is a properties file in UTF-8, the key a property in it; the file is read at each use."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self._allowed = AllowedPaths(params)

    @classmethod
    def definition(cls) -> ConfigDef:
        """`allowed.paths`."""
        return AllowedPaths.definition()

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The properties of these keys. Raises ConfigError if the file cannot be read."""
        file = self._allowed.find(path) if path else None
        if file is None:
            return {}
        properties = _properties(file, path)
        return {key: properties[key] for key in keys if key in properties}


def _properties(file: Path, path: str) -> Mapping[str, str]:
    try:
        return parse_properties(file.read_text(encoding="utf-8"))
    except OSError as error:
        why = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except ValueError as error:  # a path that cannot be one
        why = str(error)
    except ConfigError:
        why = "it has a malformed \\uxxxx escape"  # the error itself shows a piece of the file
    log.error("Could not read properties from file %s: %s", path, why)
    raise ConfigError(f"Could not read properties from file {path}") from ConnectError(why)
