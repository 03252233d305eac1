"""The interface of config providers (Kafka's `ConfigProvider`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import ClassVar

from headrace.config.definition import ConfigDef
from headrace.plugins import Kind


class ConfigProvider(ABC):
    """Looks up values. One instance serves a worker for its lifetime, from any thread. Values are not cached."""

    plugin_kind: ClassVar[Kind] = Kind.CONFIG_PROVIDER

    @abstractmethod
    def __init__(self, params: Mapping[str, str]) -> None:
        """Take the settings under `config.providers.<name>.param.`, without the prefix. Raises ConfigError."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """The options among these settings."""
        return ConfigDef()

    @abstractmethod
    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The values of these keys, as far as there are any; a placeholder whose key is not there stays as it is written.

        path: what stands before the key, empty if nothing does. Raises ConfigError if nothing can be looked up.
        """
