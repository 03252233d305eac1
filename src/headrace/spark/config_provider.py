"""Config providers in Java, on `plugin.path`: asked in a JVM of their own, since Spark's settings may need what they say."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Set

from headrace.config import ConfigDef
from headrace.config.providers.base import ConfigProvider
from headrace.errors import ConfigError
from headrace.spark import host_process
from headrace.spark.connect_host import PluginError
from headrace.spark.host_process import ProcessSettings
from headrace.spark.java_plugin import JavaPlugin

_PROCESS = ProcessSettings("config-providers", "128m")
"""One for all providers of the worker, as long as it lives."""


class JavaConfigProvider(JavaPlugin, ConfigProvider):
    """A provider that the host of plugins asks."""

    def __init__(self, params: Mapping[str, str]) -> None:
        """Make an instance of the class with these settings. Raises ConfigError for what it throws."""
        self._id = f"provider@{uuid.uuid4().hex[:12]}"
        self._host = host_process.acquire(_PROCESS, self.host)
        settings = {key: str(value) for key, value in params.items() if value is not None}
        self._ask("provider.start", **{"class": self.plugin_name}, location=self.location, props=settings)

    @classmethod
    def definition(cls) -> ConfigDef:
        """Nothing: Kafka's ConfigProvider names no options."""
        return ConfigDef()

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The values of these keys, as far as the class knows them. Raises ConfigError for what it throws."""
        return self._ask("provider.get", path=path, keys=sorted(keys))

    def _ask(self, method: str, **request: object) -> Mapping[str, str]:
        try:
            return self._host.ask(method, id=self._id, **request)
        except PluginError as error:
            raise ConfigError(f"{self.plugin_name} says {error.java_class}: {error}") from error
