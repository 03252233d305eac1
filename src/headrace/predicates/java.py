"""Predicates in Java: they are asked where transformations in Java run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.errors import ConnectError
from headrace.predicates.base import Predicate
from headrace.spark.java_plugin import JavaPlugin

if TYPE_CHECKING:
    from headrace.values.record import ConnectRecord
    from headrace.values.sql import Sql


class JavaPredicate(JavaPlugin, Predicate):
    """A predicate that the host of plugins asks."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when its task starts."""

    def test(self, record: ConnectRecord) -> Sql:
        """Raise ConnectError: there is nothing to compile."""
        raise ConnectError(
            f"{self.prefix}type: {self.plugin_name} is written in Java and can run only in a connector that is, "
            "before every transform that is headrace's own."
        )
