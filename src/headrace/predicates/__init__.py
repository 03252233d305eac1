"""Predicates (KIP-585), which select the records that a transformation is applied to, one module each.

Users write their own as a ColumnPredicate.
"""

from headrace.predicates.column_predicate import ColumnPredicate
from headrace.values.columns import Columns

__all__ = ["ColumnPredicate", "Columns"]
