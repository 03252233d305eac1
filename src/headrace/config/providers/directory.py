"""`${dir:/path/of/a/directory:file}`: the content of a file, as secrets are mounted into containers."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

import structlog

from headrace.config.definition import ConfigDef
from headrace.config.providers.allowed_paths import AllowedPaths
from headrace.config.providers.base import ConfigProvider
from headrace.errors import ConfigError
from headrace.plugins import Kind, plugin

log = structlog.get_logger(__name__)


@plugin("org.apache.kafka.common.config.provider.DirectoryConfigProvider", Kind.CONFIG_PROVIDER)
class DirectoryConfigProvider(ConfigProvider):
    """The path is a directory, the key the name of a file in it; the value is the whole text, its last line break included."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self._allowed = AllowedPaths(params)

    @classmethod
    def definition(cls) -> ConfigDef:
        """`allowed.paths`."""
        return AllowedPaths.definition()

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The contents of the files of these names. Raises ConfigError if the directory, or one of them, cannot be read."""
        directory = self._allowed.find(path) if path else None
        if directory is None:
            return {}
        if not directory.is_dir():
            log.warning("The path %s is not a directory", path)
            return {}
        return {file.name: self._text(file) for file in _files(directory) if file.name in keys and self._may_be_read(file)}

    def _may_be_read(self, file: Path) -> bool:
        """Whether it is a file, and not a link to what is not allowed."""
        return file.is_file() and self._allowed.find(str(file)) is not None

    def _text(self, file: Path) -> str:
        try:
            return file.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            # The exception of text that is no UTF-8 has the text, a secret: it is neither logged nor the cause.
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        log.error("Could not read file %s for property %s: %s", file, file.name, reason)
        raise ConfigError(f"Could not read file {file} for property {file.name}")


def _files(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError as error:
        log.error("Could not list directory %s: %s", directory, error.strerror)
        raise ConfigError(f"Could not list directory {directory}") from error
