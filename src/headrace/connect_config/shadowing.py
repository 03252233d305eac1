"""Classes of headrace and classes in Java of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import plugins

_CONNECT_PACKAGE = "org.apache.kafka.connect."
"""Prefix of classes on the class path of the host of plugins."""


def is_in_java(cls: type[Any]) -> bool:
    """Whether the host of plugins has this class: Kafka Connect's own, or one on `plugin.path`."""
    return in_host(cls.plugin_name, getattr(cls, "location", None))


def used_by(connector: type[Any] | None) -> Callable[[type[Any]], type[Any]]:
    """Returns the class of a converter that a connector's class uses for one that is named."""
    return in_java_sink if connector in plugins.java_plugins(plugins.Kind.SINK) else as_named


def as_named(cls: type[Any]) -> type[Any]:
    """The class itself."""
    return cls


def in_host(name: str, location: str | None) -> bool:
    """The same for the full name and the location of a class; None: not on `plugin.path`."""
    return location is not None or name.startswith(_CONNECT_PACKAGE)


def in_java_sink(cls: type[Any]) -> type[Any]:
    """The class that a sink in Java uses for this one: the newest of its name on `plugin.path` if the host does not have it."""
    same_name = [other for other in plugins.java_plugins(cls.plugin_kind) if other.plugin_name == cls.plugin_name]
    return cls if is_in_java(cls) or not same_name else same_name[-1]
