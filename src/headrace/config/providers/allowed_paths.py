"""The directories and files that providers may read (KIP-993): the param `allowed.paths`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import structlog

from headrace.config.config import Config
from headrace.config.option import option
from headrace.config.types import Importance, Type
from headrace.errors import ConfigError

log = structlog.get_logger(__name__)


class AllowedPaths(Config):
    """Which paths may be read. Without the option, all may."""

    paths: str | None = option(
        "allowed.paths",
        Type.STRING,
        None,
        importance=Importance.LOW,
        doc="Files and directories, comma separated, that may be read, with everything below them; each has to be absolute and "
        "to exist. Not given: every path may be read.",
    )

    def __init__(self, params: Mapping[str, str]) -> None:
        """Raises ConfigError, in Kafka's words, for a path that is relative or does not exist."""
        super().__init__(params)
        text = (self.paths or "").rstrip(",")  # Java's split leaves out empty items at the end
        paths = text.split(",") if text else []
        self._allowed = [_checked(path.strip()) for path in paths] if self.paths else None

    def find(self, path: str) -> Path | None:
        """The path to read, symbolic links followed; None, with a warning, if it is not below an allowed one."""
        if self._allowed is None:
            return Path(path)
        real = Path(path).resolve()
        if Path(path).is_absolute() and any(real.is_relative_to(allowed) for allowed in self._allowed):
            return real
        log.warning("The path %s is not allowed to be accessed", path)
        return None


def _checked(path: str) -> Path:
    requested = Path(path)
    if not requested.is_absolute():
        raise ConfigError(f"Path {path} is not absolute")
    if not requested.exists():
        raise ConfigError(f"Path {path} does not exist")
    return requested.resolve()
