"""The base of transformations: a function from record to record, compiled to Columns (Kafka's `Transformation`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import new_class
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from headrace.config import Config, Type, option
from headrace.config.example import Example
from headrace.config.types import invalid
from headrace.config.validators import Lambda
from headrace.plugins import Kind, abstract, plugin

if TYPE_CHECKING:
    from headrace.transforms.column_lineage import RecordLineage
    from headrace.values.record import ConnectRecord


class Transformation(Config, ABC):
    """One stage of a connector's chain; its options are attributes (`headrace.config.option`).

    Created from the settings under `transforms.<alias>.`, without the prefix; unknown keys are ignored. Raises ConfigError.
    """

    version: ClassVar[str | None] = None
    plugin_kind: ClassVar[Kind] = Kind.TRANSFORMATION
    examples: ClassVar[Sequence[Example]] = ()
    """Configurations with a record before and after; printed in the docs, and run by a test."""
    routes: Literal["no", "by topic", "by record"] = "by record"
    """Whether the topic may change, and whether the old topic alone decides the new one."""
    drops: ClassVar[bool] = False
    """Whether it drops every record that it is applied to."""

    def __init__(self, props: Mapping[str, Any], prefix: str = "") -> None:
        """prefix: of its options in the connector's configuration (`transforms.<alias>.`), for messages. Raises ConfigError."""
        self.prefix = prefix
        super().__init__(props)

    @abstractmethod
    def apply(self, record: ConnectRecord) -> ConnectRecord:
        """Return the transformed record; runs once, on the driver, when the stream is defined."""

    def lineage(self, record: RecordLineage) -> RecordLineage:
        """Return the lineage of the record after it; by default every part may come from the whole record."""
        return record.opaque()


class PartTransformation(Transformation):
    """A transformation with two classes: `…$Key` changes a record's key, `…$Value` its value."""

    routes = "no"
    target: ClassVar[Literal["key", "value"]]
    Key: ClassVar[type[PartTransformation]]
    Value: ClassVar[type[PartTransformation]]


P = TypeVar("P", bound="type[PartTransformation]")


def key_and_value(name: str) -> Callable[[P], P]:
    """Class decorator: register `<name>$Key` and `<name>$Value`, subclasses that differ in `target` (`cls.Key`, `cls.Value`).

    name: full name of Kafka's outer class, which is registered as abstract.
    """

    def register(cls: P) -> P:
        for part in ("Key", "Value"):
            fields = {"target": part.lower(), "__doc__": cls.__doc__, "__module__": cls.__module__}
            fields["__qualname__"] = f"{cls.__qualname__}.{part}"
            concrete = new_class(part, (cls,), exec_body=partial(_fill, fields))
            setattr(cls, part, plugin(f"{name}${part}", Kind.TRANSFORMATION)(concrete))
        abstract(name, (f"{name}$Key", f"{name}$Value"))
        return cls

    return register


def _fill(fields: Mapping[str, object], namespace: dict[str, object]) -> None:
    namespace.update(fields)


def replace_null_option() -> Any:
    """`replace.null.with.default`, which most transformations have."""
    return option(
        "replace.null.with.default",
        Type.BOOLEAN,
        True,
        doc="Whether to replace fields that have a default value and that are null to the default value. When set to true, the "
        "default value is used, otherwise null is used.",
    )


def _non_empty(name: str, value: list[str] | None) -> None:
    if not value:
        raise invalid(name, value, "Empty list")


NON_EMPTY_LIST = Lambda(_non_empty, "non-empty list")
"""Kafka's NonEmptyListValidator: at least one item, duplicates and empty items allowed."""


def java_split(text: str, separator: str) -> list[str]:
    """`java.lang.String.split`: empty items at the end are dropped, and the empty text is one empty item."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts if parts != [""] or not text else []
