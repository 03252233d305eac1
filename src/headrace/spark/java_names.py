"""Names of the JVM that PySpark looks up for every function of a column are looked up once.

Py4J asks the JVM at each mention of a class, and of a static method of it: two of the three requests of such a call.
"""

from __future__ import annotations

from typing import Any

_CLASSES = ("org.apache.spark.sql.functions", "PythonUtils")


class _JavaClass:
    """A class of the JVM that remembers its static methods."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._java_class, name)
        setattr(self, name, method)  # found without this method from now on
        return method


def remember_java_names(jvm: Any) -> None:
    """Have a session's JVM view (`SparkContext._jvm`) keep the classes by whose methods PySpark makes columns."""
    for name in _CLASSES:
        setattr(jvm, name, _JavaClass(getattr(jvm, name)))
