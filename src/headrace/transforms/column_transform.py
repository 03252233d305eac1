"""ColumnTransform: the base of transforms that users write in Python, as a function of Spark Columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from headrace.config import Config
from headrace.errors import ConfigError
from headrace.plugin_metrics import PluginMetrics
from headrace.plugins import Kind
from headrace.sql_functions import F
from headrace.transforms.base import Transformation
from headrace.transforms.record_parts import PARTS, fit_to, with_parts
from headrace.values.columns import NAMES, Columns
from headrace.values.expressions import Expression, evaluate
from headrace.values.record import ConnectRecord


class UserTransform(Config, ABC):
    """The base of transforms that users write in Python; their options are attributes (`headrace.config.option`)."""

    plugin_kind: ClassVar[Kind] = Kind.TRANSFORMATION
    version: ClassVar[str | None] = None

    def with_plugin_metrics(self, metrics: PluginMetrics) -> None:
        """Register the plugin's metrics (KIP-877); called on the driver, before the task runs. For subclasses."""

    @abstractmethod
    def stage(self, prefix: str) -> Transformation:
        """The transformation that a chain applies. prefix: of its options in the connector's configuration."""


class ColumnTransform(UserTransform):
    """A user's transform, configured by its dotted name: `transforms.<alias>.type=my_module.MyTransform`.

    `apply` runs once, on the driver, when the stream is defined; the Columns that it returns run in the one pass of the chain.

        class Routed(ColumnTransform):
            field: str = option("field", Type.STRING, doc="The field whose text ends the topic's name.")

            def apply(self, record: Columns) -> Columns:
                kind = F.try_variant_get(record.value, f"$.{self.field}", "string")
                return replace(record, topic=F.concat(record.topic, F.lit("-"), kind))
    """

    @abstractmethod
    def apply(self, record: Columns) -> Columns:
        """Return a copy with other Columns (`dataclasses.replace`); all but `offset` can be changed.

        The type of each is that of the option of the same name of `headrace.transforms.Sql`.
        """

    def stage(self, prefix: str) -> Transformation:
        """The transformation that a chain applies."""
        return ColumnTransformation(self, prefix)


class ColumnTransformation(Transformation):
    """The transformation of a chain that calls a ColumnTransform."""

    def __init__(self, user: ColumnTransform, prefix: str) -> None:
        super().__init__({}, prefix)
        self.user = user

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Set the parts for which the user's class has returned another Column."""
        name = type(self.user).__qualname__
        old = Columns(*(F.col(column) for column in NAMES))
        new = self.user.apply(old)
        if not isinstance(new, Columns):
            raise ConfigError.invalid(self.prefix + "type", name, f"Its apply has to return Columns, not {type(new).__name__}")
        if new.offset is not old.offset:
            raise ConfigError.invalid(self.prefix + "type", name, "An offset cannot be changed")
        changed = {part: getattr(new, part) for part in PARTS if getattr(new, part) is not getattr(old, part)}
        if not changed:
            return record
        expressions = {p: Expression(self.prefix + "type", f"{name}.{p}", column, fit_to(p)) for p, column in changed.items()}
        return with_parts(record, evaluate(record, expressions))
