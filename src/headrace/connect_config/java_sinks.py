"""Which converters, transforms and predicates a sink connector in Java can have: Kafka Connect's own classes, and those on
`plugin.path`. They are called by Kafka Connect's own code, for which classes of headrace are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headrace.connect_config.enrich import CHAIN, CONVERTERS, aliases, find
from headrace.connect_config.shadowing import in_java_sink, is_in_java
from headrace.errors import ConfigError

_PYTHON_ONLY = "it is a Python class of headrace, and cannot run in a sink connector that is written in Java"


def refused(props: Mapping[str, Any], converters: Mapping[str, str]) -> Iterator[tuple[str, ConfigError]]:
    """The options of a sink in Java that name classes of headrace's own, each with an error.

    converters: the worker's class for each option in CONVERTERS.
    """
    for option, slot in CONVERTERS.items():
        cls = find(str(props.get(option) or converters.get(option) or ""), slot)
        if cls is not None and not is_in_java(in_java_sink(cls)):
            yield option, ConfigError.invalid(option, cls.plugin_name, f"{_PYTHON_ONLY}; use a converter in Java, on plugin.path")
    used = {str(props.get(f"transforms.{alias}.predicate") or "") for alias in aliases("transforms", props)}
    for key, slot in CHAIN.items():
        for alias in aliases(key, props):
            option = f"{key}.{alias}.type"
            cls = find(str(props.get(option) or ""), slot)
            if cls is not None and not is_in_java(cls) and (key == "transforms" or alias in used):
                yield option, ConfigError.invalid(option, props[option], f"{_PYTHON_ONLY}; leave it out")
