"""Plugins in Java that a compiled chain calls for each record: their definition in the host."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import structlog

from headrace.config.redaction import maskable
from headrace.spark.connect_host import ConnectHost, hiding
from headrace.spark.java_plugin import JavaPlugin

log = structlog.get_logger(__name__)


class JavaCall:
    """Plugins under one id, which the host creates at the first use, and keeps until they are closed."""

    def __init__(self, host: ConnectHost, request: Mapping[str, Any]) -> None:
        """request: of the host's method `chain.define`, without an id; its `secrets` are hidden in errors."""
        self._host, self._request, self._id = host, request, f"chain@{uuid.uuid4().hex[:12]}"
        self._defined = False

    @property
    def id(self) -> str:
        """The id by which the chain calls them, so that Spark's plans do not contain the configuration.

        Executor processes create their own instances. Raises PluginError for an exception of a plugin.
        """
        if not self._defined:
            with hiding(self._request.get("secrets", ())):
                self._host.ask("chain.define", id=self._id, **self._request)
            if self._host.in_executors:  # without a name: metrics are those of the driver
                self._host.executors.define(self._id, json.dumps({**self._request, "id": self._id, "name": None}))
            self._defined = True
        return self._id

    @property
    def retries(self) -> int:
        """The number of retries of the plugins in this JVM; 0 once they are closed."""
        if not self._defined:
            return 0
        try:
            return self._host.ask("chain.retries", id=self._id)
        except Exception as error:  # the session may end while metrics are read
            log.debug("plugin.retries.unknown", cause=str(error))
            return 0

    def close(self) -> None:
        """Close the plugins in the host."""
        if not self._defined:
            return
        self._defined = False
        try:
            self._host.ask("chain.close", id=self._id)
            if self._host.in_executors:
                self._host.executors.close(self._id)
        except Exception as error:  # the session has ended, and the plugins with it
            log.debug("plugin.close.failed", cause=str(error))


class ChainPlugin(JavaPlugin):
    """A plugin in Java in a compiled chain."""

    props: dict[str, str]
    """Its own settings, without prefix, which the Java class reads."""
    owner: Mapping[str, Any] = {}
    """`name` and `number` of the task, whose metrics its own are among, and its `retry`."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when it is first used."""
        self.props = dict(props)
        self._calls: dict[Hashable, JavaCall] = {}

    def call_id(self, use: Hashable, request: Callable[[], Mapping[str, Any]]) -> str:
        """The id of the call defined by `request`, which is created at the first use of this name (`JavaCall`).

        Raises PluginError if no instance can be created.
        """
        call = self._calls.get(use)
        if call is None:
            call = self._calls[use] = JavaCall(self.host, {**request(), **self.owner})
        return call.id

    @property
    def retries(self) -> int:
        """The number of retries of the plugin, and of plugins called with it."""
        return sum(call.retries for call in list(self._calls.values()))

    def close(self) -> None:
        """Close the instances of the class, and of plugins called with it."""
        for call in self._calls.values():
            call.close()


def secrets_of(plugins: Iterable[Any]) -> list[str]:
    """The secrets in settings of plugins in Java (`maskable`)."""
    secrets = [secret for plugin in plugins if isinstance(plugin, ChainPlugin) for secret in type(plugin).passwords(plugin.props)]
    return maskable(secrets)


def described(plugin: Any, props: Mapping[str, Any]) -> dict[str, Any]:
    """A plugin for the host: `class`, `location` (None: Kafka Connect's own) and `props`."""
    settings = {key: str(value) for key, value in props.items() if value is not None}
    return {"class": type(plugin).plugin_name, "location": getattr(type(plugin), "location", None), "props": settings}
