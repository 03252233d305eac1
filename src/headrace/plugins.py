"""The registry of components: a Kafka class name, or an alias of it, finds the class that implements it here.

A component registers where it is defined, with `@plugin("org.apache.kafka.…")`; nothing lists them a second time. The registry
feeds REST (`/connector-plugins`), the docs and the command line. Packages from elsewhere take part by an entry point of the
group `headrace.plugins` that names a module to import, or a class; connectors, transformations, predicates and config providers
also go by their dotted Python name.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache, lru_cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

import structlog

from headrace import KAFKA_VERSION, __version__
from headrace.errors import ConnectError, NotFoundError

_PACKAGES = tuple(f"headrace.{name}" for name in ("config.providers", "connectors", "converters", "transforms", "predicates"))
# The suffixes that Kafka Connect lets a user leave out of a simple class name (PluginUtils.prunedName).
_SUFFIXES = {
    "source": "Connector",
    "sink": "Connector",
    "converter": "Converter",
    "header_converter": "Converter",
    "transformation": "Transformation",
    "predicate": "Predicate",
}

C = TypeVar("C", bound=type)
log = structlog.get_logger(__name__)


class Kind(StrEnum):
    """What a plugin is; the values are those of `type` in GET /connector-plugins, which does not list config providers."""

    SOURCE = "source"
    SINK = "sink"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"
    CONFIG_PROVIDER = "config_provider"


_OWN = (Kind.SOURCE, Kind.SINK, Kind.TRANSFORMATION, Kind.PREDICATE, Kind.CONFIG_PROVIDER)
"""What users may write in Python and name by its dotted name."""
_REGISTRY: dict[tuple[str, Kind], type[Any]] = {}
_ORDER = {kind: number for number, kind in enumerate(Kind)}
_ABSTRACT: dict[str, tuple[str, ...]] = {}
_DOTTED: dict[str, type[Any] | None] = {}  # what `dotted` has given last
_REMEMBERED = 1024
NO_VERSION = "undefined"
"""The version of a class that has none (Kafka's PluginDesc.UNDEFINED_VERSION)."""
_JAVA: list[type[Any]] = []  # of plugin.path, the versions of a class in ascending order


def plugin(name: str, kind: Kind | str, aliases: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Class decorator: register the class under Kafka's full class name.

    name: full class name as Kafka users write it in `connector.class` and the like; the simple name, and the simple name without
    its usual suffix (`Connector`, `Converter` …), are aliases by themselves, but not for a nested class (`X$Value`), as in Kafka
    Connect. aliases: further names. Raises ConnectError at import
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
            cls.version = KAFKA_VERSION if name.startswith("org.apache.kafka.") else __version__  # type: ignore[attr-defined]
        _REGISTRY[key] = cls
        _matching.cache_clear()
        return cls

    return register


def abstract(name: str, concrete: tuple[str, ...]) -> None:
    """Make known that a class of Kafka's is abstract, and the names of those that a user may have meant."""
    _ABSTRACT[name] = concrete


def meant_by(name: str) -> tuple[str, ...]:
    """The names of the classes to use instead of an abstract one; empty if this is none."""
    load()
    return _ABSTRACT.get(name, ())


def _aliases(name: str, kind: Kind) -> set[str]:
    simple = name.rpartition(".")[2]
    if "$" in simple:
        return set()
    suffix = _SUFFIXES.get(kind)
    if kind is Kind.HEADER_CONVERTER and simple.endswith("HeaderConverter"):
        suffix = "HeaderConverter"
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
        cls = entry.load()
        if isinstance(cls, type) and "plugin_name" not in vars(cls) and hasattr(cls, "plugin_kind"):
            plugin(f"{cls.__module__}.{cls.__qualname__}", cls.plugin_kind, (entry.name,))(cls)


def set_java_plugins(classes: Iterable[type[Any]]) -> None:
    """Make the plugins of `plugin.path` known, in place of those known so far; the versions of a class in ascending order.

    Each class has what `plugin` sets. headrace's own class of the same name and kind goes before them.
    """
    _JAVA[:] = classes
    _matching.cache_clear()


def java_plugins(*kinds: Kind | str) -> list[type[Any]]:
    """Those of these kinds (none given: of all), also where headrace has its own class of the name."""
    wanted_kinds = {Kind(k) for k in kinds} or set(Kind)
    return [cls for cls in _JAVA if cls.plugin_kind in wanted_kinds]


def versions(cls: type[Any]) -> list[type[Any]]:
    """All versions of a plugin's class, in ascending order."""
    if cls not in _JAVA:
        return [cls]
    return [other for other in java_plugins(cls.plugin_kind) if other.plugin_name == cls.plugin_name]


def every(*kinds: Kind | str) -> Iterator[type[Any]]:
    """All classes of these kinds (none given: of all), ordered by kind and name, then by version."""
    load()
    wanted_kinds = {Kind(k) for k in kinds} or set(Kind)
    registered = [(_ORDER[kind], name, cls) for (name, kind), cls in _REGISTRY.items() if kind in wanted_kinds]
    registered += [
        (_ORDER[cls.plugin_kind], cls.plugin_name, cls)
        for cls in java_plugins(*wanted_kinds)
        if (cls.plugin_name, cls.plugin_kind) not in _REGISTRY
    ]
    yield from (cls for _, _, cls in sorted(registered, key=lambda entry: entry[:2]))


def find(name: str, *kinds: Kind | str, java: bool = False, again: bool = True) -> type[Any]:
    """The class of these kinds that goes by this name: full class name, simple name, or simple name without suffix.

    Of several versions of a class, the newest; java: of `plugin.path` alone; again: whether an import of a user's module that
    has failed before is tried again. Raises NotFoundError if none goes by it, ConnectError if an alias fits several classes
    (Kafka Connect's sentence).
    """
    matching = _matching(name, kinds, java)
    if len(matching) > 1:
        classes = ", ".join(c.plugin_name for c in matching)
        raise ConnectError(
            f"More than one connector matches alias {name}. Please use full package and class name instead. "
            f"Classes found: {classes}"
        )
    if not matching:
        own_class = _own(name, again) if kinds and set(kinds) <= set(_OWN) and not java else None
        if own_class is not None and getattr(own_class, "plugin_kind", None) in kinds and not inspect.isabstract(own_class):
            return own_class
        raise NotFoundError(f"Class {name} could not be found.")
    return matching[0]


@lru_cache(1024)  # asked for each connector of each answer; emptied when a plugin is added
def _matching(name: str, kinds: tuple[Kind | str, ...], java: bool) -> list[type[Any]]:
    candidates = list({(c.plugin_name, c.plugin_kind): c for c in (java_plugins(*kinds) if java else every(*kinds))}.values())
    exact = [c for c in candidates if c.plugin_name == name]
    return exact or [c for c in candidates if name in c.plugin_aliases]


def _own(name: str, again: bool) -> type[Any] | None:
    return dotted(name) if again or name not in _DOTTED else _DOTTED[name]


def dotted(name: str) -> type[Any] | None:
    """A user's class by its Python name (`my_module.MyTransform`), None if there is none; imports the module.

    `plugin_name`, `plugin_aliases` and, if absent, `version` are set on a plugin of the kinds that users may write.
    """
    cls = _imported(name)
    if len(_DOTTED) >= _REMEMBERED:
        _DOTTED.clear()
    _DOTTED[name] = cls
    return cls


def _imported(name: str) -> type[Any] | None:
    module, _, attribute = name.rpartition(".")
    if not module or not all(part.isidentifier() for part in name.split(".")):
        return None
    try:
        cls = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            log.warning("plugin.import-failed", plugin=name, cause=str(error))
        return None
    except Exception as error:  # whatever the user's module does when it is imported
        log.warning("plugin.import-failed", plugin=name, cause=f"{type(error).__name__}: {error}")
        return None
    if not isinstance(cls, type) or cls.__module__.startswith("headrace."):  # ours are registered
        return None
    if getattr(cls, "plugin_kind", None) in _OWN and "plugin_name" not in vars(cls):
        cls.plugin_name, cls.plugin_aliases = name, set()  # type: ignore[attr-defined]
        cls.version = getattr(cls, "version", None) or NO_VERSION  # type: ignore[attr-defined]
    return cls
