"""The columns of a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Layout:
    """The columns of a store: `keys` beside the task's partition, in the order of the changelog's key; `value`: type of `v`."""

    keys: tuple[tuple[str, DataType], ...]
    value: DataType

    @property
    def names(self) -> list[str]:
        """What identifies a row."""
        return ["p", *(name for name, _ in self.keys)]
