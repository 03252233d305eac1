"""Schemas beside `AvroData`, which Confluent's converter makes Connect data with (as Apicurio has it)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from headrace.avro.from_connect import from_connect
from headrace.avro.mapping import AvroOptions
from headrace.avro.to_connect import to_connect
from headrace.errors import DataError
from headrace.jvm.jars import jars
from headrace.values.schema import Schema
from tests.avro.random_schemas import avro_schemas
from tests.avro.test_data import ALL
from tests.avro.test_schemas import ENHANCED, PLAIN, schemas


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
        package = "io.apicurio.registry.utils.converter.avro"
        self._data = constructor(loader.loadClass(f"{package}.AvroData"), "AvroDataConfig")
        self._config = constructor(loader.loadClass(f"{package}.AvroDataConfig"), "Map")
        self._jvm, self._gateway = jvm, context._gateway

    def again(self, text: str, enhanced: bool = False) -> str:
        """The text of the Avro schema of the schema of Connect that it reads an Avro schema as."""
        props = self._jvm.java.util.HashMap()
        props.put("enhanced.avro.schema.support", str(enhanced).lower())
        data = self._made(
            self._data, self._made(self._config, props)
        )  # one that knows schemas takes those of one name for the same
        return data.fromConnectSchema(data.toConnectSchema(self._jvm.org.apache.avro.Schema.Parser().parse(text))).toString()

    def _made(self, constructor: Any, argument: Any) -> Any:
        arguments = self._gateway.new_array(self._jvm.java.lang.Object, 1)
        arguments[0] = argument
        return constructor.newInstance(arguments)


def constructor(java_class: Any, parameter: str) -> Any:
    """The constructor of a class of Java whose only parameter has a class of this name."""
    return next(found for found in java_class.getConstructors() if found.toString().endswith(f".{parameter})"))


@pytest.fixture(scope="module")
def reference(spark: SparkSession) -> Reference:
    return Reference.of(spark)


@given(schemas())
def test_what_is_read_is_written_with_the_schema_of_the_reference(reference: Reference, schema: Schema) -> None:
    text = from_connect(Schema("struct", name="a.Whole", fields={"x": schema}), PLAIN)
    assert reference.again(text) == text


@pytest.mark.parametrize("options", [PLAIN, ENHANCED], ids=["plain", "enhanced"])
@given(schema=avro_schemas())
def test_an_avro_schema_is_written_again_with_the_text_of_the_reference(
    reference: Reference, options: AvroOptions, schema: Any
) -> None:
    text = json.dumps(schema)
    try:
        written = from_connect(to_connect(text, options).schema, options)
    except DataError as error:
        with pytest.raises(Py4JJavaError, match=str(error).partition(":")[0]):  # two enums in a union are two texts
            reference.again(text, options.enhanced)
    else:
        assert written == reference.again(text, options.enhanced)


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
    assert from_connect(to_connect(text, PLAIN).schema, PLAIN) == reference.again(text)
