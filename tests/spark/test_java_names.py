"""Names of the JVM are looked up once, and what may change each time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def requests(spark, monkeypatch) -> Iterator[list[str]]:
    """What Py4J asks the JVM on this thread meanwhile (a data plane asks all the time), without the objects that it forgets."""
    client, sent, own = spark._jvm._gateway_client, [], threading.get_ident()
    send = client.send_command

    def note(command: str, *more: Any, **options: Any) -> str:
        if threading.get_ident() == own and not command.startswith("m\n"):
            sent.append(command)
        return send(command, *more, **options)

    monkeypatch.setattr(client, "send_command", note)
    yield sent


def test_a_static_method_is_one_request_from_the_second_time(spark, requests):
    assert spark._jvm.java.lang.Integer.parseInt("1") == 1
    requests.clear()
    assert spark._jvm.java.lang.Integer.parseInt("2") == 2
    assert len(requests) == 1


def test_functions_of_columns_are_asked_for_by_their_call_alone(spark, requests):
    from pyspark.sql import functions as F

    F.upper(F.col("a"))
    requests.clear()
    F.upper(F.col("b"))
    assert len(requests) == 2


def test_a_static_field_is_read_each_time(spark, requests):
    assert spark._jvm.java.io.File.separator == "/"
    requests.clear()
    assert spark._jvm.java.io.File.separator == "/"
    assert len(requests) == 1


def test_a_class_that_is_not_there_is_looked_for_again(spark, requests):
    missing = spark._jvm.io.headrace.NotYet
    requests.clear()
    assert spark._jvm.io.headrace.NotYet is not missing
    assert len(requests) == 1


def test_constructors_and_nested_classes_are_those_of_java(spark):
    assert spark._jvm.java.util.ArrayList().size() == 0
    assert spark._jvm.java.util.AbstractMap.SimpleEntry("a", "b").getKey() == "a"
