"""Tests of chains: what a preview makes of records, compared with what a file expects. Pure but for `run`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headrace.cli.project.folder import ChainTest
from headrace.errors import ConfigError
from headrace.preview.records import from_objects
from headrace.preview.run import prepare
from headrace.runtime.worker_config import WorkerConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run(test: ChainTest, config: Mapping[str, str], worker: WorkerConfig, spark: SparkSession) -> list[str]:
    """Run a test; returns what differs, a sentence each. Raises HeadraceError if the configuration or a record is invalid."""
    prepared = prepare(dict(config), worker)
    result = prepared.run(spark, from_objects(test.records, prepared.topic), describe_topics=False)
    differences = []
    for number, (expected, record) in enumerate(zip(test.expect, result["records"], strict=True), 1):
        differences += [f"record {number}: {text}" for text in compare(expected, record)]
    return differences


def compare(expected: Any, record: Mapping[str, Any]) -> list[str]:
    """How the preview of one record differs from what is expected of it; only members that are named count.

    A value or key that is expected as an object, list, number or boolean is compared as JSON, a text and null as they stand.
    Raises ConfigError for what nothing can be.
    """
    outcome = record["outcome"]
    if expected is None:
        return [] if outcome == "dropped" else [f"it should be dropped, and is {_outcome(record)}"]
    if not isinstance(expected, dict):
        raise ConfigError(f"{_text(expected)} is no expected record: write an object, or null for a dropped record.")
    if "failure" in expected:
        text = f"{(record['failure'] or {}).get('message')}: {(record['failure'] or {}).get('cause')}"
        expected_failure = str(expected["failure"])
        return (
            []
            if outcome == "failed" and expected_failure in text
            else [f"it should fail with '{expected_failure}', and is {_outcome(record)}"]
        )
    if outcome != "passed":
        return [f"it should pass, and is {_outcome(record)}"]
    return [text for member, value in expected.items() if (text := _difference(member, value, record["output"]))]


def _difference(member: str, expected: Any, output: Mapping[str, Any]) -> str | None:
    if member not in output:
        raise ConfigError(f"An output record has no member '{member}'; its members are {', '.join(output)}.")
    actual = output[member]
    # Only a text is the text `null`: null is a tombstone.
    if member in ("key", "value") and isinstance(actual, str) and not isinstance(expected, str | None):
        try:
            actual = json.loads(actual, parse_float=Decimal)
        except (ValueError, ArithmeticError):  # the latter for an exponent that no decimal has
            return f"{member} is not JSON: {actual!r}"
    return None if _same(actual, expected) else f"{member} is {_text(actual)} instead of {_text(expected)}"


def _same(actual: Any, expected: Any) -> bool:
    """Whether two JSON values are the same: for Python, true is 1."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(_same(value, expected[name]) for name, value in actual.items())
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(_same, actual, expected))
    return isinstance(actual, bool) == isinstance(expected, bool) and actual == expected


def _text(value: Any) -> str:
    """JSON with every digit of its numbers."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(name)}: {_text(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def _outcome(record: Mapping[str, Any]) -> str:
    if record["outcome"] == "failed":
        return f"failed: {record['failure']['message']}"
    if record["outcome"] == "dropped":
        return f"dropped by {record['dropped_by']}"
    return f"passed to {record['output']['topic']}"
