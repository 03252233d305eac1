"""Schemas that plugins in Java make, as a chain learns them."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from pyspark.sql import SparkSession

from headrace.converters.byte_array import ByteArrayConverter
from headrace.converters.connect_data import LearnedData
from headrace.converters.json import JsonConverter
from headrace.converters.simple_header import SimpleHeaderConverter
from headrace.converters.string import StringConverter
from headrace.transforms.chain import Compiled, Converters, compile_chain
from headrace.values.sql import Sql
from tests.transforms.chains import Record, frame


def struct(field: str) -> str:
    return f'{{"type":"struct","optional":false,"fields":[{{"field":"{field}","type":"string","optional":false}}]}}'


class Learning(ByteArrayConverter):
    """Reads what a column `made` has, as the converters in Java do."""

    def __init__(self) -> None:
        super().__init__({}, False)
        self._learned = defaultdict[int, LearnedData](LearnedData)

    def read(self, context, source, schemas=()):
        return self._learned[context.chain].read(context, "made", "bytes")


def compiled(converter: Learning, chain: int) -> Compiled:
    written = StringConverter({}, False)
    return compile_chain((), Converters(written, converter, SimpleHeaderConverter({})), _writers(written), chain=chain)


def _writers(converter: StringConverter):
    return Converters(converter, converter, SimpleHeaderConverter({}))


def sql_of(chain: Compiled) -> Sql:
    return str([chain.scope.__dict__, chain.columns])


def test_what_one_chain_learns_another_does_not_forget():
    converter = Learning()
    compiled(converter, 0).learners["within0"].learn([struct("of_first")])
    compiled(converter, 1).learners["within0"].learn([struct(f"of_second_{n}") for n in range(100)])
    assert "of_first" in sql_of(compiled(converter, 0))
    assert "of_second_99" not in sql_of(compiled(converter, 0))
    assert "of_second_99" in sql_of(compiled(converter, 1))


@pytest.mark.parametrize("nested", [False, True])
def test_what_json_has_no_number_for_is_read_as_what_the_plugin_made(spark: SparkSession, nested: bool):
    numbers = [{"field": name, "type": kind, "optional": False} for name in "zn" for kind in ("double", "float")]
    for number, field in enumerate(numbers):
        field["field"] = f"{field['field']}{number}"
    schema = {"type": "struct", "optional": False, "fields": numbers}
    payload = '{"z0":-0.0,"z1":-0.0,"n2":"NaN","n3":"-Infinity"}'
    if nested:
        schema = {"type": "struct", "optional": False, "fields": [{**schema, "field": "in"}]}
        payload = f'{{"in":{payload}}}'
    text = json.dumps(schema)
    converter, written = Learning(), JsonConverter({"schemas.enable": "false"}, False)
    compiled(converter, 0).learners["within0"].learn([text])
    key = StringConverter({}, False)
    chain = compile_chain((), Converters(key, converter, SimpleHeaderConverter({})),
                          Converters(key, written, SimpleHeaderConverter({})), chain=0)  # fmt: skip
    made = f'{{"schema":{text},"payload":{payload}}}'.encode().hex()
    given = frame(spark, [Record(b"")]).selectExpr("*", f"named_struct('bytes', X'{made}') AS made")
    [row] = chain.apply(given).collect()
    assert bytes(row["value"]).decode() == payload
