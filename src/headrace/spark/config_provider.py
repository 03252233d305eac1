"""Config providers in Java, on `plugin.path`: they run in a JVM of their own, as Spark's settings may need their values."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping, Set

from headrace.config import ConfigDef
from headrace.config.providers.base import ConfigProvider
from headrace.errors import ConfigError, SetupError
from headrace.spark import host_process
from headrace.spark.connect_host import PluginError, hiding
from headrace.spark.host_process import ProcessHost, ProcessSettings
from headrace.spark.java_plugin import JavaPlugin

_PROCESS = ProcessSettings("config-providers", "128m", "which all config providers share, and no setting changes")
"""One process for all providers of the worker; it is restarted if it has ended."""


class JavaConfigProvider(JavaPlugin, ConfigProvider):
    """Adapter of a config provider in the host of plugins."""

    def __init__(self, params: Mapping[str, str]) -> None:
        """Create an instance of the class with these settings. Raises ConfigError for an exception of the class.

        What is called a password, secret or token in them is hidden in errors and log lines.
        """
        self._id = f"provider@{uuid.uuid4().hex[:12]}"
        self._settings = {key: str(value) for key, value in params.items() if value is not None}
        self._starting = threading.Lock()
        self._host = self._start()

    @classmethod
    def definition(cls) -> ConfigDef:
        """No options: Kafka's ConfigProvider does not declare them."""
        return ConfigDef()

    def get(self, path: str, keys: Set[str]) -> Mapping[str, str]:
        """The values of these keys; unknown ones are left out. Raises ConfigError for an exception of the class."""
        with self._starting:
            if not self._host.alive:
                self._host = self._start()
            host = self._host
        return self._call(host, "provider.get", path=path, keys=sorted(keys))

    def _start(self) -> ProcessHost:
        """Start the process, and create an instance of the provider in it."""
        try:
            host = host_process.acquire(_PROCESS, self.host)
        except SetupError as error:
            raise ConfigError(f"{self.plugin_name} cannot be asked: {error}") from error
        self._call(host, "provider.start", **{"class": self.plugin_name}, location=self.location, props=self._settings)
        return host

    def _call(self, host: ProcessHost, method: str, **request: object) -> Mapping[str, str]:
        try:
            with hiding(self.passwords(self._settings)):  # what it logs in to its store with
                return host.ask(method, id=self._id, **request)
        except PluginError as error:
            raise ConfigError(f"{self.plugin_name} says {error.java_class}: {error}") from error
