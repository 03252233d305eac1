"""SimpleHeaderConverter: header values as text whose type is inferred when read; the worker's default."""

from __future__ import annotations

from headrace.config import ConfigDef
from headrace.converters.base import HeaderConverter
from headrace.plugins import Kind, plugin


@plugin("org.apache.kafka.connect.storage.SimpleHeaderConverter", Kind.HEADER_CONVERTER)
class SimpleHeaderConverter(HeaderConverter):
    """Header values that are bytes stay these bytes (Kafka writes their base64 text, docs/parity.md)."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """No options of its own."""
        return ConfigDef()
