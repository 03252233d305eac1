"""Loads NumPy and pandas in PySpark only when they are used: they take 80 MB, and half a second of a worker's start.

PySpark calls its converter of NumPy's arrays for every argument of every call into the JVM, and the first call loads both.
"""

from __future__ import annotations

import sys
from typing import Any

from py4j import protocol


class _IfLoaded:
    """A converter of Py4J that is used only once NumPy is loaded: before, no argument is an array."""

    def __init__(self, converter: Any) -> None:
        self._converter = converter

    def can_convert(self, value: object) -> bool:
        """Whether it is a NumPy value."""
        return "numpy" in sys.modules and self._converter.can_convert(value)

    def convert(self, value: object, client: Any) -> Any:
        """The Java value."""
        return self._converter.convert(value, client)


def load_numpy_lazily() -> None:
    """Replace PySpark's converters of NumPy's types. Call it once, before Spark starts."""
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter  # registers them

    numpy_types = (NumpyArrayConverter, NumpyScalarConverter)
    converters = protocol.INPUT_CONVERTER
    converters[:] = [_IfLoaded(converter) if isinstance(converter, numpy_types) else converter for converter in converters]
