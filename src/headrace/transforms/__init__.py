"""Transformations, one module each; chain.py compiles those of a connector. Users write their own as a ColumnTransform."""

from headrace.transforms.arrow_transform import ArrowTransform
from headrace.transforms.column_transform import ColumnTransform
from headrace.values.columns import Columns

__all__ = ["ArrowTransform", "ColumnTransform", "Columns"]
