"""A session loads NumPy and pandas only where something uses them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
import pytest

from headrace.spark.session import session
spark = session({"spark.master": "local[2]"})
assert [row.n for row in spark.range(2).selectExpr("id + 1 AS n").collect()] == [1, 2]
loaded = [name for name in ("numpy", "pandas", "pyarrow") if name in sys.modules]
assert not loaded, loaded
import numpy
from pyspark.sql import functions as F

import pytest
assert spark.range(1).select(F.lit(numpy.array([1, 2]))).first()[0] == [1, 2]
"""


def test_numpy_is_loaded_by_who_uses_it_and_its_values_are_taken() -> None:
    answer = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600, check=False)
    assert answer.returncode == 0, answer.stderr
