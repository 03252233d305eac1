"""PySpark's functions and `Window`, imported at their first use: importing PySpark takes most of a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Window
    from pyspark.sql import functions as F
else:

    class _AtFirstUse:
        def __init__(self, module: str, name: str) -> None:
            self._source = module, name

        def __getattr__(self, attribute: str) -> Any:
            module, name = self._source
            value = getattr(getattr(import_module(module), name), attribute)
            setattr(self, attribute, value)  # from now on found without this method
            return value

    F = _AtFirstUse("pyspark.sql", "functions")
    Window = _AtFirstUse("pyspark.sql", "Window")
