"""Config providers (KIP-297, KIP-421): `${provider:path:key}` in a configuration stands for a value kept elsewhere.

One file per provider; a provider of one's own is a subclass of `ConfigProvider`, named in `config.providers.<name>.class` by its
dotted Python name or by an entry point of `headrace.plugins`.
"""

from headrace.config.providers.base import ConfigProvider
from headrace.config.providers.configured import configured_resolver
from headrace.config.providers.resolver import Resolved, Resolver

__all__ = ["ConfigProvider", "Resolved", "Resolver", "configured_resolver"]
