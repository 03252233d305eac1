"""Examples of what plugins do to records: the generated docs print them, and a test runs each through the real chain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """An example of a transform, predicate, converter or header converter: settings, and a record before and after."""

    options: Mapping[str, str]
    """Of the plugin, without the prefix."""
    have: Mapping[str, Any]
    """The record: `topic`, `partition`, `timestamp`, `headers` (text by name), `key` and `value` (JSON without a schema), or of a
    converter `bytes` (hexadecimal), or of a header converter the `schema` and `payload` of the value of a header.
    """
    want: Mapping[str, Any] | bool | None
    """What it has afterwards, of a predicate whether it holds, of a header converter the header's `bytes` or `text`; None: the
    record is dropped.
    """
    beside: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the connector."""


_PREDICATES = "org.apache.kafka.connect.transforms.predicates."
EUROPEAN: Mapping[str, str] = {
    "predicates": "eu,tombstone",
    "predicates.eu.type": _PREDICATES + "TopicNameMatches",
    "predicates.eu.pattern": "eu-.*",
    "predicates.tombstone.type": _PREDICATES + "RecordIsTombstone",
}
"""Two predicates for examples of what refers to predicates."""


def to_markdown(examples: Sequence[Example], heading: str = "Examples") -> str:
    """The examples as a list under a heading; empty if there are none."""
    lines = []
    for example in examples:
        settings = ", ".join(f"`{name}={value}`" for name, value in {**example.options, **example.beside}.items())
        lines.append(f"- {settings or 'No options'}: `{_text(example.have)}` → {_outcome(example.want)}\n")
    return f"{heading}:\n\n{''.join(lines)}" if lines else ""


def _outcome(want: Mapping[str, Any] | bool | None) -> str:
    if want is None:
        return "the record is dropped"
    if isinstance(want, bool):
        return "holds" if want else "does not hold"
    return f"`{_text(want)}`"


def _text(parts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in parts.items())
