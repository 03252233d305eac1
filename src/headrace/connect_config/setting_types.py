"""The types of the settings of a connector, those of its converters, transformations and predicates included.

For what hides secrets: nothing is validated, so a connector's own checks, which may ask a database, do not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from headrace import plugins
from headrace.config.types import Type
from headrace.connect_config.enrich import CHAIN, CONVERTERS, common_definition, converter_of
from headrace.connect_config.named_plugins import CONNECTOR, NamedPlugin
from headrace.connect_config.versions import with_version
from headrace.errors import HeadraceError
from headrace.plugins import Kind

_KINDS = {CONNECTOR: (Kind.SOURCE, Kind.SINK)} | {place: slot.kinds for place, slot in (CHAIN | CONVERTERS).items()}


def setting_types(named: Iterable[NamedPlugin]) -> list[Mapping[str, str]]:
    """`name` and `type` of each option of these plugins, under their prefixes; nothing of a plugin that is not there."""
    connector, types = None, list[Mapping[str, str]]()
    for plugin in named:
        try:
            cls = _class_of(plugin, connector)
            options = _types_of(cls)
        except HeadraceError:  # not there, or it does not answer: its secrets are recognized by the names of its options
            continue
        if plugin.place == CONNECTOR:
            connector = cls
        types += [{"name": plugin.prefix + name, "type": kind} for name, kind in options]
    return types


def _class_of(plugin: NamedPlugin, connector: type[Any] | None) -> type[Any]:
    """Raises HeadraceError. A version that is not there is as good as the newest: only the secrets are asked for."""
    cls = plugins.find(plugin.name, *_KINDS[plugin.place], java=plugin.in_java, again=False)
    if plugin.place in CONVERTERS:
        cls = converter_of(connector, plugin.name, CONVERTERS[plugin.place]) or cls
    try:
        return with_version(cls, plugin.version, getattr(connector, "location", None))
    except HeadraceError:
        return cls


@lru_cache(1024)  # asked for each connector of each answer; a class in Java is asked in its process
def _types_of(cls: type[Any]) -> tuple[tuple[str, Type], ...]:
    own = {option.name: option.type for option in cls.definition().options.values()}
    if cls.plugin_kind in (Kind.SOURCE, Kind.SINK):
        own = {option.name: option.type for option in common_definition(cls, {}, {}).options.values()} | own
    return tuple(own.items())
