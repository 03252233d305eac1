"""Options of converters that Kafka or Confluent have, and that change nothing here: for a warning in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace import plugins
from headrace.config.prefixes import under
from headrace.config.types import trim
from headrace.connect_config.enrich import CONVERTER, CONVERTERS, find

_CONVERTERS = {**CONVERTERS, "source.key.converter": CONVERTER, "source.value.converter": CONVERTER}


def ignored_by_converters(props: Mapping[str, Any]) -> dict[str, str]:
    """The options without effect that properties set for the converters which they name: name → why.

    props: a worker's, or a connector's, resolved. A converter in Java reads its own options.
    """
    ignored = {}
    for option, slot in _CONVERTERS.items():
        name, prefix = trim(str(props.get(option) or "")), f"{option}."
        used = find(name, slot) if name else None
        if used is not None and used not in plugins.java_plugins():
            without_effect = used.definition().without_effect(under(props, prefix))
            ignored |= {prefix + setting: why for setting, why in without_effect.items()}
    return ignored
