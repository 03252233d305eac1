"""All options that headrace declares."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import headrace
from headrace.config import Config, ConfigDef
from headrace.config.client_options import client_definition

SOURCE = Path(headrace.__file__).parent


def classes() -> Iterator[type[Config]]:
    """Every class of configurations; those of plugins in Java ask a JVM, and are left out."""
    for module in pkgutil.walk_packages([str(SOURCE)], "headrace."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    waiting: list[type[Config]] = [Config]
    while waiting:
        subclasses = waiting.pop().__subclasses__()
        waiting += subclasses
        yield from (cls for cls in subclasses if cls.__module__.startswith("headrace.") and not cls.__name__.startswith("Java"))


def definitions() -> Iterator[ConfigDef]:
    """Those of every class of configurations, and of Kafka's clients."""
    yield from (cls.definition() for cls in classes())
    for client in ("producer", "consumer", "admin", "worker"):
        yield client_definition(client)
