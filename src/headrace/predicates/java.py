"""Predicates in Java: the plugin host evaluates them within a compiled chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.converters.connect_data import header_settings, record_parts
from headrace.predicates.base import Predicate
from headrace.spark.java_call import ChainPlugin, described, secrets_of
from headrace.values.record import ConnectRecord
from headrace.values.sql import Sql, case, lit


class JavaPredicate(ChainPlugin, Predicate):
    """A predicate that the plugin host evaluates."""

    def __init__(self, props: Mapping[str, str], prefix: str = "") -> None:
        """props: settings, which the Java class parses when it is first called."""
        super().__init__(props)
        self.prefix = prefix

    def test(self, record: ConnectRecord) -> Sql:
        """The result of the Java class. Raises PluginError if no instance of the class can be created."""
        context = record.context
        id = self.call_id("test", lambda: self._request(record))
        called = f"headrace_plugin_predicate({lit(id)}, {record_parts(record)})"
        out = context.scope.bind(case([(context.step_condition(), called)]))
        context.fail_with(f"{out}.failure")
        return f"coalesce({out}.holds, false)"

    def _request(self, record: ConnectRecord) -> Mapping[str, Any]:
        return {
            "kind": "predicate",
            "predicate": described(self, self.props),
            "alias": self.prefix.removeprefix("predicates.").removesuffix("."),
            "header": header_settings(record),
            "secrets": secrets_of([self, record.headers_written]),
        }
