"""Schemas beside `AvroData`, which Confluent's converter makes Connect data with (as Apicurio has it)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from pyspark.sql import SparkSession

from headrace.avro.from_connect import from_connect
from headrace.avro.to_connect import to_connect
from headrace.jvm.jars import jars
from headrace.values.schema import Schema
from tests.avro.test_data import ALL
from tests.avro.test_schemas import PLAIN, schemas


class Reference:
    """AvroData in Spark's JVM, with a class loader of its own; `of` gives the one of the process.

    Py4J remembers methods by the names of their classes: those of a second class loader would not fit.
    """

    @staticmethod
    @cache
    def of(spark: SparkSession) -> Reference:
        return Reference(spark)

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        jvm, (jar,) = context._jvm, jars("avro-data")
        urls = context._gateway.new_array(jvm.java.net.URL, 1)
        urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
        loader = jvm.java.net.URLClassLoader(urls, jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        result = loader.loadClass("io.apicurio.registry.utils.converter.avro.AvroData")
        self._arguments = context._gateway.new_array(jvm.java.lang.Object, 1)
        self._arguments[0] = 1000
        self._made = next(made for made in result.getConstructors() if made.toString().endswith("AvroData(int)"))
        self._parser = jvm.org.apache.avro.Schema.Parser

    def again(self, text: str) -> Any:
        """The Avro schema of the schema of Connect that it reads an Avro schema as."""
        data = self._made.newInstance(self._arguments)  # one that knows schemas takes those of one name for the same
        return json.loads(data.fromConnectSchema(data.toConnectSchema(self._parser().parse(text))).toString())


@pytest.fixture(scope="module")
def reference(spark: SparkSession) -> Reference:
    return Reference.of(spark)


@given(schemas())
def test_what_is_read_is_written_with_the_schema_of_the_reference(reference: Reference, schema: Schema) -> None:
    text = from_connect(Schema("struct", name="a.Whole", fields={"x": schema}), PLAIN)
    assert reference.again(text) == json.loads(text)


def test_a_schema_that_is_no_connects_becomes_what_the_reference_makes_of_it(reference: Reference) -> None:
    kinds = (
        "int",
        "long",
        "float",
        "double",
        "bool",
        "text",
        "bytes",
        "price",
        "day",
        "at",
        "ts",
        "micros",
        "none",
        "list",
        "map",
    )
    fields = [field for field in ALL["fields"] if field["name"] in kinds]
    text = json.dumps({**ALL, "fields": fields})
    assert json.loads(from_connect(to_connect(text, PLAIN).schema, PLAIN)) == reference.again(text)
