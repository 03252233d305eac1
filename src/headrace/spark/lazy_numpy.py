"""PySpark without NumPy and pandas until somebody uses them: they take 80 MB, and half a second of a worker's start.

PySpark asks its converter of NumPy's arrays about every argument of every call into the JVM, and the first question loads both.
"""

from __future__ import annotations

import sys
from typing import Any

from py4j import protocol


class _IfLoaded:
    """A converter of Py4J that is asked only once NumPy is there: no argument is an array before."""

    def __init__(self, converter: Any) -> None:
        self._converter = converter

    def can_convert(self, value: object) -> bool:
        """Whether it is NumPy's."""
        return "numpy" in sys.modules and self._converter.can_convert(value)

    def convert(self, value: object, client: Any) -> Any:
        """The Java value."""
        return self._converter.convert(value, client)


def load_numpy_lazily() -> None:
    """Put this in the place of PySpark's converters of NumPy's types. To be called once, before Spark starts."""
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter  # registers them

    numpy_types = (NumpyArrayConverter, NumpyScalarConverter)
    converters = protocol.INPUT_CONVERTER
    converters[:] = [_IfLoaded(converter) if isinstance(converter, numpy_types) else converter for converter in converters]
