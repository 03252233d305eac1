"""The providers that a worker's properties name: `config.providers`, `config.providers.<name>.class` and `.param.*`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from headrace import plugins
from headrace.config.prefixes import under
from headrace.config.providers.base import ConfigProvider
from headrace.config.providers.resolver import Resolver
from headrace.config.types import parse_list
from headrace.errors import ConfigError, ConnectError
from headrace.plugins import Kind

log = structlog.get_logger(__name__)

_PROVIDERS = "config.providers"


def configured_resolver(props: Mapping[str, Any]) -> Resolver:
    """Makes the providers of a worker. Raises ConfigError for a class that there is not, and for params that are wrong."""
    names_text = props.get(_PROVIDERS)
    names = [name for name in (parse_list(names_text) if isinstance(names_text, str) else names_text or []) if name]
    providers = {name: _provider(name, props) for name in dict.fromkeys(names)}
    return Resolver({name: provider for name, provider in providers.items() if provider is not None})


def _provider(name: str, props: Mapping[str, Any]) -> ConfigProvider | None:
    setting, prefix = f"{_PROVIDERS}.{name}.class", f"{_PROVIDERS}.{name}.param."
    class_name = str(props.get(setting) or "").strip()
    if not class_name:  # as in Kafka, which says nothing at all
        log.warning("The config provider %s is not used: %s is not set.", name, setting)
        return None
    cls = _class(setting, class_name)
    try:
        return cls(under(props, prefix))
    except ConfigError as error:
        raise ConfigError(f"The config provider {name} cannot be used: {error.message}") from error


def _class(setting: str, name: str) -> type[ConfigProvider]:
    try:
        return plugins.find(name, Kind.CONFIG_PROVIDER)
    except ConnectError:
        names = ", ".join(cls.plugin_name for cls in plugins.every(Kind.CONFIG_PROVIDER))
        why = f"Could not load config provider class or one of its dependencies; those there are: {names}"
        raise ConfigError.invalid(setting, name, why) from None
