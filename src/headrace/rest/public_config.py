"""Configurations as the caller may see them: secrets are for admins alone, who can set them, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from starlette.requests import Request

from headrace.config.secrets import Secrets
from headrace.connect_config.named_plugins import NamedPlugin, named_plugins
from headrace.connect_config.setting_types import setting_types
from headrace.rest.caller import caller_of
from headrace.rest.roles import Role

Config = Mapping[str, str | None]


class PublicConfigs:
    """Makes of configurations what the caller of one request may see."""

    def __init__(self, request: Request) -> None:
        self._sees_all = caller_of(request.scope).role >= Role.ADMIN
        self._secrets = cache(_secrets_of)

    def __call__(self, config: Config, connector: Config | None = None) -> dict[str, str | None]:
        """A configuration; connector: the connector's, for that of a task, which may not name all of its plugins."""
        if self._sees_all:
            return dict(config)
        return self._secrets(named_plugins({**(connector or {}), **config})).public(config)


def _secrets_of(named: tuple[NamedPlugin, ...]) -> Secrets:
    return Secrets(setting_types(named))
