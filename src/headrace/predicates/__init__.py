"""Predicates (KIP-585), which say to what records a transformation applies: one file for each.

Users write their own as a ColumnPredicate.
"""

from headrace.predicates.column_predicate import ColumnPredicate
from headrace.values.columns import Columns

__all__ = ["ColumnPredicate", "Columns"]
