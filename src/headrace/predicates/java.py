"""Predicates in Java: the host of plugins is asked about a record in the midst of a compiled chain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headrace.converters.connect_data import header_settings, record_parts
from headrace.predicates.base import Predicate
from headrace.spark.java_call import JavaCall, described, secrets_of
from headrace.spark.java_plugin import JavaPlugin
from headrace.values.sql import case, lit

if TYPE_CHECKING:
    from headrace.values.record import ConnectRecord
    from headrace.values.sql import Sql


class JavaPredicate(JavaPlugin, Predicate):
    """A predicate that the host of plugins asks."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Take settings, which the class reads itself when it is first asked."""
        self.props = dict(props)
        self._call: JavaCall | None = None

    def test(self, record: ConnectRecord) -> Sql:
        """What the class says. Raises PluginError if there can be no instance of it."""
        run = record.run
        if self._call is None:
            request = {"kind": "predicate", "predicate": described(self, self.props), "header": header_settings(record)}
            self._call = JavaCall(self.host, {**request, "secrets": secrets_of([self]), **self.owner})
        called = f"headrace_plugin_predicate({lit(self._call.id)}, {record_parts(record)})"
        out = run.scope.bind(case([(run.reached(), called)]))
        run.thrown(f"{out}.failure")
        return f"coalesce({out}.holds, false)"

    def close(self) -> None:
        """Close the instances of the class."""
        if self._call is not None:
            self._call.close()
