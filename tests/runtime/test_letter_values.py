from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from headrace.runtime.letter_values import as_bytes, from_bytes, type_of, type_text

ROW = """named_struct(
  'n', 9007199254740993L, 'small', 1Y, 'd', 1.5D, 'f', 0.1F, 'nan', double('NaN'), 'b', true, 's', 'a "b" \u00fc',
  'a column', X'00ff', 'money', 12345678901234567890.123BD, 'day', DATE'2026-11-23',
  'at', TIMESTAMP'2026-11-23 14:00:00.123456', 'none', cast(null as int), 'list', array(1, null), 'map', map('k', 1.5BD),
  'in', named_struct('x', cast(null as string)))"""


@pytest.mark.parametrize("value", [ROW, "42", "'text'", "X'00ff'", "TIMESTAMP'2026-11-23 14:00:00.123456'", "12.50BD", "true"])
def test_what_a_source_gave_is_read_again_from_its_letter(spark: SparkSession, value: str):
    frame = spark.sql(f"SELECT {value} AS v")
    type_ = frame.schema["v"].dataType
    again = type_of(type_text(type_))
    letter = frame.selectExpr("v", f"{as_bytes('v', type_)} AS letter")
    row = letter.select("v", from_bytes(letter["letter"], again).alias("again")).head()
    assert row is not None and again == type_ and str(row["again"]) == str(row["v"])


def test_what_is_no_type_is_refused():
    for text in ("{}", "[]", '"x"', "nonsense"):
        with pytest.raises(ValueError):
            type_of(text)
