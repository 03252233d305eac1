"""A transform that takes many records at once, and changes none: with it a mirror copies batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.transforms import ArrowTransform

if TYPE_CHECKING:
    import pyarrow


class Same(ArrowTransform):
    """Returns the values as they come."""

    def apply(self, values: pyarrow.Array) -> pyarrow.Array:
        """Return them."""
        return values
