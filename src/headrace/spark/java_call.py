"""Plugins in Java that a compiled chain calls, one record after the other: what the host is sent, and the SQL that calls it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import structlog

from headrace.config.redaction import SHORTEST
from headrace.spark.connect_host import ConnectHost, hiding
from headrace.spark.java_plugin import JavaPlugin

log = structlog.get_logger(__name__)


class JavaCall:
    """Plugins under an id of their own, which the host creates at the first use, and keeps until they are closed."""

    def __init__(self, host: ConnectHost, request: Mapping[str, Any]) -> None:
        """request: as the host's method `chain.define` takes it, without an id; `secrets` of it are in no failure."""
        self._host, self._request, self._id = host, request, f"chain@{uuid.uuid4().hex[:12]}"
        self._defined = False

    @property
    def id(self) -> str:
        """By which the chain calls them; the configuration itself stands in no plan of Spark's.

        Executors that are processes of their own make instances of theirs. Raises PluginError for what they throw.
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
        """How often the host has called one of them again, in this JVM; 0 once they are closed."""
        if not self._defined:
            return 0
        try:
            return self._host.ask("chain.retries", id=self._id)
        except Exception as error:  # the session ends while somebody looks at the metrics
            log.debug("plugin.retries.unknown", cause=str(error))
            return 0

    def close(self) -> None:
        """Have the host close them."""
        if not self._defined:
            return
        self._defined = False
        try:
            self._host.ask("chain.close", id=self._id)
            if self._host.in_executors:
                self._host.executors.close(self._id)
        except Exception as error:  # the session has ended, and they with it
            log.debug("plugin.close.failed", cause=str(error))


class ChainPlugin(JavaPlugin):
    """A plugin in Java in a compiled chain."""

    props: dict[str, str]
    """Its own settings, prefix taken off, which the class itself reads."""
    owner: Mapping[str, Any] = {}
    """`name` and `number` of the task, whose metrics its own are among, and its `retry`."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when it is first used."""
        self.props = dict(props)
        self._calls: dict[Hashable, JavaCall] = {}

    def call_id(self, use: Hashable, request: Callable[[], Mapping[str, Any]]) -> str:
        """By which the chain calls what `request` asks for, which is created at the first use of this name (`JavaCall`).

        Raises PluginError if there can be no instance of it.
        """
        call = self._calls.get(use)
        if call is None:
            call = self._calls[use] = JavaCall(self.host, {**request(), **self.owner})
        return call.id

    @property
    def retries(self) -> int:
        """How often it, or a plugin that is called with it, was called again."""
        return sum(call.retries for call in list(self._calls.values()))

    def close(self) -> None:
        """Close the instances of the class, and of those that were called with it."""
        for call in self._calls.values():
            call.close()


def secrets_of(plugins: Iterable[Any]) -> list[str]:
    """What is not to be shown of the settings of plugins in Java: texts that are long enough not to be found in other words."""
    secrets = [secret for plugin in plugins if isinstance(plugin, ChainPlugin) for secret in type(plugin).passwords(plugin.props)]
    return sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)


def described(plugin: Any, props: Mapping[str, Any]) -> dict[str, Any]:
    """A plugin for the host: `class`, `location` (None: Kafka Connect's own) and `props`."""
    settings = {key: str(value) for key, value in props.items() if value is not None}
    return {"class": type(plugin).plugin_name, "location": getattr(type(plugin), "location", None), "props": settings}
