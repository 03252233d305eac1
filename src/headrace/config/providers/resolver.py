"""From placeholders to values (Kafka's `ConfigTransformer`), and back again (`AbstractHerder.reverseTransform`).

A placeholder is `${provider:key}` or `${provider:path:key}`. One whose provider or key is unknown stays as it is written; what a
provider gives is not looked at again. Unlike in Kafka, whose expression runs on to a `:` behind it, one ends at its first `}`, so
that `${env:USER}:${env:PASSWORD}` is two of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace.config import redaction
from headrace.config.providers.base import ConfigProvider

_LINE_ENDS = "\n\r\u0085\u2028\u2029"  # what `.` does not match in Java
_PLACEHOLDER = re.compile(rf"\$\{{([^:}}{_LINE_ENDS}]*):(?:([^:}}{_LINE_ENDS}]*):)?([^}}{_LINE_ENDS}]*)\}}")

Values = Mapping[str, str]


@dataclass(frozen=True)
class Resolved:
    """A configuration with its values."""

    raw: Mapping[str, Any]
    """As it was given."""
    props: Mapping[str, Any]
    """With the values."""
    values: Values = field(default_factory=dict, repr=False)
    """Placeholder → value."""

    def __repr__(self) -> str:
        return f"Resolved({dict(self.raw)})"

    def came_from_provider(self, key: str) -> bool:
        """Whether the setting has a value from a provider in it."""
        return key in self.raw and self.raw[key] != self.props[key]

    def restore(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration that was made from this one, with the placeholders instead of their values.

        A setting that was taken over becomes what it was; in one that the connector made, each value that is long enough to be
        distinguished from other text becomes its placeholder.
        """
        return {key: self._restored(key, value) for key, value in config.items()}

    def _restored(self, key: str, value: Any) -> Any:
        if not isinstance(value, str) or (key in self.raw and self.raw[key] == value):
            return value
        if self.came_from_provider(key) and self.props[key].strip() == value.strip():
            return self.raw[key]
        placeholders = {secret: placeholder for placeholder, secret in self.values.items() if redaction.is_maskable(secret)}
        if not placeholders:
            return value
        pattern = "|".join(re.escape(secret) for secret in sorted(placeholders, key=len, reverse=True))
        return re.sub(pattern, lambda match: placeholders[match[0]], value)


class Resolver:
    """Puts the values of some providers into configurations."""

    def __init__(self, providers: Mapping[str, ConfigProvider] | None = None) -> None:
        self._providers = dict(providers or {})

    def resolve(self, props: Mapping[str, Any]) -> Resolved:
        """Look up all placeholders of a configuration, each path of a provider once. Raises ConfigError of a provider.

        The values are known to `redaction` from here on.
        """
        values = self._look_up([value for value in props.values() if isinstance(value, str)]) if self._providers else {}
        if not values:
            return Resolved(props, props)
        for placeholder, value in values.items():
            redaction.remember(value, placeholder)
        substituted = {key: _substitute(value, values) if isinstance(value, str) else value for key, value in props.items()}
        return Resolved(props, substituted, values)

    def _look_up(self, texts: list[str]) -> Values:
        requested: dict[tuple[str, str], dict[str, list[str]]] = {}  # provider and path -> key -> the placeholders of it
        for match in (placeholder for text in texts for placeholder in _PLACEHOLDER.finditer(text)):
            provider, path, key = match[1], match[2] or "", match[3]
            if provider in self._providers:
                requested.setdefault((provider, path), {}).setdefault(key, []).append(match[0])
        values = {}
        for (provider, path), keys in requested.items():
            values_of = self._providers[provider].get(path, keys.keys())
            values |= {placeholder: values_of[key] for key in keys if key in values_of for placeholder in keys[key]}
        return values


def _substitute(text: str, values: Values) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[0], match[0]), text)
