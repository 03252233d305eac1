"""A plugin as a user would write it, for tests of what is hidden."""

from __future__ import annotations

from headrace.config import Type, option
from headrace.transforms import Columns, ColumnTransform


class Cipher(ColumnTransform):
    """Has a password whose name does not say so."""

    keys: str = option("cipher.data_keys", Type.PASSWORD, doc="The keys.")

    def apply(self, record: Columns) -> Columns:
        return record


CIPHER = f"{__name__}.Cipher"
