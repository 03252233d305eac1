"""Configurations as the caller may see them: secrets are for admins alone, who can set them, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from starlette.requests import Request

from headrace import plugins
from headrace.cluster.herder import Herder
from headrace.config.secrets import Secrets
from headrace.errors import HeadraceError
from headrace.plugins import Kind
from headrace.rest.caller import caller_of
from headrace.rest.roles import Role

Config = Mapping[str, str | None]


class PublicConfigs:
    """Makes of configurations what the caller of one request may see."""

    def __init__(self, herder: Herder, request: Request) -> None:
        self._herder, self._sees_all = herder, caller_of(request.scope).role >= Role.ADMIN
        self._secrets = cache(self._secrets_of)

    def __call__(self, config: Config, connector_class: str | None = None) -> dict[str, str | None]:
        """A configuration; connector_class: of the connector, unless it is in there."""
        if self._sees_all:
            return dict(config)
        return self._secrets(connector_class or config.get("connector.class")).public(config)

    def _secrets_of(self, connector_class: str | None) -> Secrets:
        try:
            plugin = plugins.find(connector_class or "", Kind.SOURCE, Kind.SINK)
            return Secrets(self._herder.plugin_config(plugin))
        except HeadraceError:  # an unavailable plugin: secrets are recognized by the names of its options
            return Secrets()
