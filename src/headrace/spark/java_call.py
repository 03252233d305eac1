"""Plugins in Java that a compiled chain calls, one record after the other: what the host is told, and the SQL that calls it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import structlog

from headrace.spark.connect_host import ConnectHost

log = structlog.get_logger(__name__)


class JavaCall:
    """Plugins under an id of their own, which the host makes at the first use, and keeps until they are closed."""

    def __init__(self, host: ConnectHost, request: Mapping[str, Any]) -> None:
        """request: as the host's method `chain.define` takes it, without an id."""
        self._host, self._request, self._id = host, request, f"chain@{uuid.uuid4().hex[:12]}"
        self._defined = False

    @property
    def id(self) -> str:
        """By which the chain calls them; the configuration itself stands in no plan of Spark's. Raises PluginError."""
        if not self._defined:
            self._host.ask("chain.define", id=self._id, **self._request)
            self._defined = True
        return self._id

    def close(self) -> None:
        """Have the host close them."""
        if not self._defined:
            return
        self._defined = False
        try:
            self._host.ask("chain.close", id=self._id)
        except Exception as error:  # the session has ended, and they with it
            log.debug("plugin.close.failed", cause=str(error))


def described(plugin: Any, props: Mapping[str, Any]) -> dict[str, Any]:
    """A plugin for the host: `class`, `location` (None: Kafka Connect's own) and `props`."""
    given = {key: str(value) for key, value in props.items() if value is not None}
    return {"class": type(plugin).plugin_name, "location": getattr(type(plugin), "location", None), "props": given}
