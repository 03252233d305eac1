"""StringConverter: text as UTF-8, or another encoding of Java's that Spark knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.config import ConfigDef, Importance, Option, Type
from headrace.converters.base import Converter, HeaderConverter, type_option
from headrace.errors import DataError
from headrace.plugins import Kind, plugin

if TYPE_CHECKING:
    from pyspark.sql import Column

NAME = "org.apache.kafka.connect.storage.StringConverter"


def _definition() -> ConfigDef:
    encoding = Option(
        "converter.encoding", Type.STRING, default="UTF-8", importance=Importance.HIGH,
        doc="The name of the Java character set to use for encoding strings as byte arrays.",
    )  # fmt: skip
    return ConfigDef([type_option(), encoding])


@plugin(NAME, Kind.CONVERTER)
class StringConverter(Converter):
    """Writes text in the configured encoding (Kafka's `StringConverter`)."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """`converter.encoding`."""
        return _definition()

    def to_bytes(self, column: Column, kind: str) -> Column:
        """Encode a string Column.

        Raises DataError for bytes: Kafka's converter writes Java's `[B@1b6d3586` for them, which loses the record
        (docs/parity.md).
        """
        from pyspark.sql import functions as F

        if kind != "string":
            raise DataError(
                f"StringConverter cannot write {kind}: what it would write is not the data; "
                "use org.apache.kafka.connect.converters.ByteArrayConverter for an exact copy"
            )
        return F.encode(column, self.settings["converter.encoding"])


@plugin(NAME, Kind.HEADER_CONVERTER)
class StringHeaderConverter(HeaderConverter):
    """Header values as text."""

    @classmethod
    def definition(cls) -> ConfigDef:
        """`converter.encoding`."""
        return _definition()
