"""Which plugins the configuration of a connector names, and under which prefixes their options stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.config.types import parse_list, trim
from headrace.connect_config.engine import in_java

CONNECTOR, CONVERTERS, CHAIN = "connector", ("key.converter", "value.converter", "header.converter"), ("transforms", "predicates")


@dataclass(frozen=True)
class NamedPlugin:
    """A plugin, as a configuration names it."""

    place: str
    """`connector`, one of CONVERTERS, or one of CHAIN."""
    name: str
    prefix: str = ""
    """Of its options."""
    version: str | None = None
    """What `….plugin.version` asks for; None if it is not set."""
    in_java: bool = False
    """Whether the class of this name that is meant is one on `plugin.path`."""


def named_plugins(config: Mapping[str, Any]) -> tuple[NamedPlugin, ...]:
    """The connector, its converters, transformations and predicates, as far as they are named."""
    places = [(CONNECTOR, "connector.class", "", "connector.plugin.version")]
    places += [(key, key, f"{key}.", f"{key}.plugin.version") for key in CONVERTERS]
    for key in CHAIN:
        prefixes = [f"{key}.{alias}." for alias in dict.fromkeys(parse_list(str(config.get(key) or "")))]
        places += [(key, f"{prefix}type", prefix, f"{prefix}plugin.version") for prefix in prefixes]
    named = ((place, trim(str(config.get(key) or "")), prefix, version) for place, key, prefix, version in places)
    java = in_java(config)
    return tuple(
        NamedPlugin(place, name, prefix, config.get(version), java and place == CONNECTOR)
        for place, name, prefix, version in named
        if name
    )
