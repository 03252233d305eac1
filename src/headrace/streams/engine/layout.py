"""The columns of a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Layout:
    """The columns of a store."""

    keys: tuple[tuple[str, DataType], ...]
    """In addition to the task's partition, in the changelog's order."""
    value: DataType
    """The type of `v`."""

    def __post_init__(self) -> None:
        """Make all types nullable: values that a serde reads from bytes are."""
        object.__setattr__(self, "keys", tuple((name, _nullable(kind)) for name, kind in self.keys))
        object.__setattr__(self, "value", _nullable(self.value))

    @property
    def names(self) -> list[str]:
        """The columns that identify a row."""
        return ["p", *(name for name, _ in self.keys)]


def _nullable(kind: DataType) -> DataType:
    """A type in which everything may be NULL."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    return kind.toNullable() if isinstance(kind, ArrayType | MapType | StructType) else kind
