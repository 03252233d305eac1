"""PySpark is loaded by who uses it: no command waits for it at its start."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import headrace

PROGRAM = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
    assert "pyspark" not in sys.modules, module
from headrace.sql_functions import F, Window
assert F.lit is F.lit and Window.orderBy
import pyspark.sql
assert F.lit is pyspark.sql.functions.lit and Window.orderBy is pyspark.sql.Window.orderBy
"""


@pytest.mark.slow
def test_no_module_imports_pyspark_itself() -> None:
    modules = [module.name for module in pkgutil.walk_packages(headrace.__path__, "headrace.") if "__main__" not in module.name]
    answer = subprocess.run([sys.executable, "-c", PROGRAM, *modules], capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr
