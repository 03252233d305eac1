"""ByteArrayConverter: bytes as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.config import ConfigDef
from headrace.converters.base import Converter, HeaderConverter, type_option
from headrace.errors import DataError
from headrace.plugins import Kind, plugin

if TYPE_CHECKING:
    from pyspark.sql import Column

NAME = "org.apache.kafka.connect.converters.ByteArrayConverter"


@plugin(NAME, Kind.CONVERTER)
class ByteArrayConverter(Converter):
    """Passes bytes through untouched; anything else is refused (Kafka's `ByteArrayConverter`)."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """No options of its own."""
        return ConfigDef([type_option()])

    def to_bytes(self, column: Column, kind: str) -> Column:
        """Return the binary Column itself; raises DataError for text."""
        if kind != "bytes":
            raise DataError(f"Invalid schema type for ByteArrayConverter: {kind.upper()}")
        return column


@plugin(NAME, Kind.HEADER_CONVERTER)
class ByteArrayHeaderConverter(HeaderConverter):
    """Header values are passed through untouched."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """No options of its own."""
        return ConfigDef([type_option()])
