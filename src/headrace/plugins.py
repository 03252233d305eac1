"""The registry of components: a Kafka class name, or an alias of it, finds the class that implements it here.

A component registers where it is defined, with `@plugin("org.apache.kafka.…")`; nothing lists them a second time. The registry
feeds REST (`/connector-plugins`), the docs and the command line. Packages from elsewhere take part by an entry point of the
group `headrace.plugins` that names a module to import.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from headrace import __version__
from headrace.errors import ConnectError, NotFoundError

_PACKAGES = ("headrace.connectors", "headrace.converters")
# The suffixes that Kafka Connect lets a user leave out of a simple class name (PluginUtils.prunedName).
_SUFFIXES = {"source": "Connector", "sink": "Connector", "converter": "Converter", "header_converter": "Converter"}

C = TypeVar("C", bound=type)


class Kind(StrEnum):
    """What a plugin is; the values are those of `type` in GET /connector-plugins."""

    SOURCE = "source"
    SINK = "sink"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"


_REGISTRY: dict[tuple[str, Kind], type[Any]] = {}


def plugin(name: str, kind: Kind | str, aliases: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Class decorator: register the class under Kafka's full class name.

    name: full class name as Kafka users write it in `connector.class` and the like; the simple name, and the simple name without
    its usual suffix (`Connector`, `Converter`), are aliases by themselves. aliases: further names. Raises ConnectError at import
    when the name is taken. Sets `plugin_name`, `plugin_kind`, `plugin_aliases` and, if absent, `version` on the class.
    """

    def register(cls: C) -> C:
        key = (name, Kind(kind))
        if key in _REGISTRY and _REGISTRY[key].__qualname__ != cls.__qualname__:
            raise ConnectError(f"Two {kind} plugins are called {name}: {_REGISTRY[key]!r} and {cls!r}; rename one of them.")
        cls.plugin_name = name  # type: ignore[attr-defined]
        cls.plugin_kind = Kind(kind)  # type: ignore[attr-defined]
        cls.plugin_aliases = _aliases(name, Kind(kind)) | set(aliases)  # type: ignore[attr-defined]
        if getattr(cls, "version", None) is None:
            cls.version = __version__  # type: ignore[attr-defined]
        _REGISTRY[key] = cls
        return cls

    return register


def _aliases(name: str, kind: Kind) -> set[str]:
    simple = name.rpartition(".")[2]
    suffix = _SUFFIXES.get(kind)
    short = simple.removesuffix(suffix) if suffix and simple != suffix else simple
    return {simple, short}


@cache
def load() -> None:
    """Import every module of the plugin packages, and those that entry points of `headrace.plugins` name; done once."""
    for package in _PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, package + "."):
            importlib.import_module(module.name)
    for entry in entry_points(group="headrace.plugins"):
        entry.load()


def every(*kinds: Kind | str) -> Iterator[type[Any]]:
    """All registered classes of these kinds (none given: of all), ordered by kind and name."""
    load()
    wanted = {Kind(k) for k in kinds} or set(Kind)
    for (_, kind), cls in sorted(_REGISTRY.items(), key=lambda item: (list(Kind).index(item[0][1]), item[0][0])):
        if kind in wanted:
            yield cls


def find(name: str, *kinds: Kind | str) -> type[Any]:
    """The class of these kinds that goes by this name: full class name, simple name, or simple name without suffix.

    Raises NotFoundError if none does, ConnectError if an alias fits several (Kafka Connect's sentence).
    """
    candidates = list(every(*kinds))
    exact = [c for c in candidates if c.plugin_name == name]
    found = exact or [c for c in candidates if name in c.plugin_aliases]
    if len(found) > 1:
        classes = ", ".join(c.plugin_name for c in found)
        raise ConnectError(
            f"More than one connector matches alias {name}. Please use full package and class name instead. "
            f"Classes found: {classes}"
        )
    if not found:
        raise NotFoundError(f"Class {name} could not be found.")
    return found[0]
