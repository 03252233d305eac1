"""Transformations in Java: they run beside the connector in Java whose records they change, before these come to Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.errors import ConnectError
from headrace.spark.java_plugin import JavaPlugin
from headrace.transforms.base import Transformation

if TYPE_CHECKING:
    from headrace.values.record import ConnectRecord


class JavaTransformation(JavaPlugin, Transformation):
    """A stage that the host of plugins applies."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when its task starts."""

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Raise ConnectError: there is nothing to compile."""
        raise ConnectError(
            f"{self.prefix}type: {self.plugin_name} is written in Java and can run only in a connector that is, "
            "before every transform that is headrace's own."
        )
