"""Options of Confluent's converters that are not supported.

An option that would change what is read, written or registered is refused, unless its value is the behaviour here; the others are
ignored with a warning. Source: `AbstractKafkaSchemaSerDeConfig` of Confluent's schema-registry, and the configurations of its
serializers, which its converters accept as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.errors import ConfigError

_IDS = "io.confluent.kafka.serializers.schema.id."


@dataclass(frozen=True)
class Fixed:
    """An option for which only one value is supported."""

    value: str
    """The supported value, Confluent's default; empty: the option must not be set."""
    why: str
    """The sentence for any other value."""


_PREFIX = Fixed(_IDS + "PrefixSchemaIdSerializer", "the id of the schema is written before the data, and never into a header")
_DUAL = Fixed(_IDS + "DualSchemaIdDeserializer", "the id of the schema is looked for in the header first, then before the data")
FIXED: dict[str, Fixed] = {
    "key.schema.id.serializer": _PREFIX,
    "value.schema.id.serializer": _PREFIX,
    "key.schema.id.deserializer": _DUAL,
    "value.schema.id.deserializer": _DUAL,
    "use.latest.with.metadata": Fixed("", "a version is not chosen by its metadata; use.latest.version takes the newest one"),
    "use.schema.guid": Fixed("", "a schema to write with is chosen by its number (use.schema.id) or as the newest one"),
    "schema.format": Fixed("", "schemas are registered and requested unchanged"),
    "skip.known.types": Fixed("true", "the files of Google's and Confluent's are known, and not registered"),
    "reference.lookup.only": Fixed("false", "no references are registered; schemas with references are registered beforehand"),
}

_RULES = "rule."
IGNORED = frozenset(
    {
        "propagate.schema.tags",
        "schema.reflection",
        "reference.subject.name.strategy",
        "bearer.auth.scope.claim.name",
        "bearer.auth.sub.claim.name",
        "bearer.auth.cache.expiry.buffer.seconds",
        "bearer.auth.custom.provider.class",
        "avro.use.logical.type.converters",
        "avro.reflection.allow.null",
        "avro.remove.java.properties",
        "json.fail.invalid.schema",
        "json.fail.unknown.properties",
        "json.indent.output",
        "json.write.dates.iso8601",
        "json.schema.spec.version",
        "json.oneof.for.nullables",
        "json.default.property.inclusion",
        "ignore.modern.dialects",
        "url.randomize",
        "schema.registry.url.randomize",
        "bearer.auth.uami.endpoint.url",
        "bearer.auth.uami.endpoint.query",
        "missing.cache.size",
        "missing.id.cache.ttl.sec",
        "missing.version.cache.ttl.sec",
        "missing.schema.cache.ttl.sec",
        "validation.rules.execution",
        "validation.rules.executor.class",
        "validation.rules.fail.fast",
    }
)
"""Ignored, like those that begin with `rule.`: data governance, token details, and the mapping of Java classes."""


def require_supported(options: Mapping[str, Any]) -> None:
    """Raise ConfigError for the first option whose value is not supported."""
    for name, fixed in FIXED.items():
        value = str(options.get(name, "")).strip()
        if value and value.lower() != fixed.value.lower():
            only = f"; the only value is {fixed.value}" if fixed.value else ""
            raise ConfigError.invalid(name, value, fixed.why + only)


def ignored_options(options: Mapping[str, Any]) -> list[str]:
    """The names of those of the options that have no effect, sorted."""
    off = {name for name, value in options.items() if str(value).strip().lower() in ("", "false", "disabled")}
    return sorted(name for name in options if name.startswith(_RULES) or (name in IGNORED and name not in off))
