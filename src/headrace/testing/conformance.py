"""Runs case files that were recorded from the real Kafka Connect: `python -m headrace.testing.conformance FILE.jsonl …`.

A case is one line of JSON (tests/conformance/smt/README.md): a configuration and a record, and what Connect made of them. Prints
each difference and, last, `N passed, N failed`; the exit status is 1 if any failed.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.config.prefixes import under
from headrace.connect_config.enrich import chain_definition
from headrace.converters.base import load, load_header
from headrace.converters.string import SerializationError
from headrace.errors import HeadraceError
from headrace.runtime.worker_config import SIMPLE_HEADER_CONVERTER
from headrace.spark.session import session
from headrace.testing.conformance_config import run_config_case
from headrace.transforms.chain import INPUT, NO_HEADERS, Converters, compile_chain
from headrace.transforms.stages import stages
from headrace.values.sql import lit

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession


def run_case(case: Mapping[str, Any]) -> str | None:
    """Run one case: None if it passed, else the difference in one sentence."""
    if case["mode"] == "config":
        return run_config_case(dict(case))
    actual = outcome(case["config"], case["input"])
    return difference(case["expect"], actual, case["config"])


def outcome(config: Mapping[str, str], record: Mapping[str, Any], writing: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What headrace makes of a record, in the notation of the cases, keys and values as bytes.

    writing: the converters that write the record; by default, those that read it.
    """
    return outcomes(config, [record], writing)[0]


def outcomes(
    config: Mapping[str, str], records: Sequence[Mapping[str, Any]], writing: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The same for several records, in their order, which are rows of one query."""
    try:
        chain_definition(config).parse(config)  # Kafka reads the whole configuration before it makes the converters
        converters, chain, written_by = _converters(config), stages(config), _converters(writing or config)
    except HeadraceError as error:
        return [_not_started(error)] * len(records)
    frame = _session().sql(_table([[str(number), *_row(record)] for number, record in enumerate(records)], ("number", *INPUT)))
    known: dict[str, list[str]] = {}
    for part, converter in (("key", converters.key), ("value", converters.value)):
        new = converter.schema_in(f"in_{part}", ())
        if new is not None:
            unknown = frame.selectExpr(f"{new} AS s").where("s IS NOT NULL").collect()
            known[part] = list(dict.fromkeys(row["s"] for row in unknown))
    try:
        compiled = compile_chain(chain, converters, written_by, known, sink=True, show=True)
    except SerializationError as error:  # Kafka's converters know their character sets before
        return [_not_started(error)] * len(records)
    results = {row["number"]: row for row in compiled.apply(frame, keep=["number"]).collect()}
    return [_outcome(results[number]) for number in range(len(records))]


def _not_started(error: HeadraceError) -> dict[str, Any]:
    return {"error": {"stage": "config", "class": error.java_class, "message": str(error)}}


def _outcome(result: Row) -> dict[str, Any]:
    failure = result["failure"]
    if failure is not None:
        return {"error": {"stage": "record", "at": failure["step"], "class": failure["class"], "message": failure["message"]}}
    if result["dropped"]:
        return {"filtered": True}
    headers = [[h["key"], h["value"] and bytes(h["value"])] for h in result["headers"]]
    parts = {name: result[name] and bytes(result[name]) for name in ("key", "value")}
    return {
        "topic": result["topic"],
        "partition": result["partition"],
        "timestamp": result["timestamp"],
        **parts,
        "headers": headers,
    }


def _table(rows: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    """A query for rows of SQL constants. Over one row, Spark evaluates a chain when it has simplified it, over several before."""
    if len(rows) == 1:
        return f"SELECT {', '.join(f'{sql} AS {name}' for sql, name in zip(rows[0], names, strict=True))}"
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    return f"SELECT * FROM VALUES {values} AS given ({', '.join(names)})"


def _session() -> SparkSession:
    return session(
        {"spark.master": "local[2]", "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    )


def _row(record: Mapping[str, Any]) -> list[str]:
    """The record as SQL constants, in the order of INPUT: Spark evaluates a chain over them without a job."""
    headers = [f"named_struct('key', {lit(name)}, 'value', {_binary(value)})" for name, value in record["headers"]]
    array = f"array({', '.join(headers)})" if headers else NO_HEADERS
    numbers = [f"int({record['partition']})", f"bigint({record['offset']})", f"cast({lit(record['timestamp'])} as bigint)"]
    return [lit(record["topic"]), *numbers, _binary(record["key"]), _binary(record["value"]), array]


def _binary(text: str | Mapping[str, str] | None) -> str:
    decoded = _bytes(text)
    return "cast(NULL as binary)" if decoded is None else f"X'{decoded.hex()}'"


def _converters(config: Mapping[str, str]) -> Converters:
    def settings(option: str) -> dict[str, str]:
        return under(config, f"{option}.")

    key = load(config["key.converter"], settings("key.converter"), is_key=True)
    value = load(config["value.converter"], settings("value.converter"), is_key=False)
    return Converters(
        key, value, load_header(config.get("header.converter", SIMPLE_HEADER_CONVERTER), settings("header.converter"))
    )


def _bytes(text: str | Mapping[str, str] | None) -> bytes | None:
    if text is None:
        return None
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def difference(expected: Mapping[str, Any], actual: Mapping[str, Any], config: Mapping[str, str]) -> str | None:
    """What is not as it should be, None if nothing."""
    if "error" in expected:
        return _error_difference(expected["error"], actual)
    if "error" in actual or expected.get("filtered") != actual.get("filtered"):
        return f"expected {json.dumps(expected, ensure_ascii=False)}, got {actual}"
    if expected.get("filtered"):
        return None
    for name in ("topic", "partition", "timestamp"):
        if expected[name] != actual[name]:
            return f"{name}: expected {expected[name]!r}, got {actual[name]!r}"
    for part in ("key", "value"):
        if not _same(_bytes(expected[part]), actual[part], _is_json(config, part)):
            return f"{part}: expected {expected[part]!r}, got {actual[part]!r}"
    if [name for name, _ in expected["headers"]] != [name for name, _ in actual["headers"]]:
        return f"headers: expected {expected['headers']!r}, got {actual['headers']!r}"
    for (name, expected_value), (_, got) in zip(expected["headers"], actual["headers"], strict=True):
        if not _same(_bytes(expected_value), got, _is_json(config, "header")):
            return f"header {name}: expected {expected_value!r}, got {got!r}"
    return None


def _error_difference(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> str | None:
    if "error" not in actual:
        return f"expected the error {expected['message']!r}, got {actual}"
    error = actual["error"]
    classes = {expected["class"].rpartition(".")[2]}
    if expected["stage"] == "config" and "root" in expected:
        classes.add(expected["root"]["class"].rpartition(".")[2])
    if error["stage"] != expected["stage"] or error["class"].rpartition(".")[2] not in classes:
        return f"expected {expected}, got {error}"
    if "at" in expected and expected["at"] != error.get("at"):
        return f"expected an error at {expected['at']}, got {error}"
    return None


def _is_json(config: Mapping[str, str], part: str) -> bool:
    return config.get(f"{part}.converter", "").endswith("JsonConverter")


def _same(expected: bytes | None, actual: bytes | None, as_json: bool) -> bool:
    if expected is None or actual is None or not as_json:
        return expected == actual
    try:
        return _equal(_parsed(expected), _parsed(actual))
    except ValueError:
        return expected == actual


def _parsed(text: bytes) -> Any:
    return json.loads(text, parse_float=_Fraction, parse_constant=_no_json)


def _no_json(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")  # Python's own reader takes NaN and the infinities


class _Fraction(str):
    """The digits of a number with a fraction or an exponent."""


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, _Fraction) and isinstance(b, _Fraction):
        return Decimal(a) == Decimal(b) or float(a) == float(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(v, b[k]) for k, v in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    return a == b


def cases(files: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The cases of files, in order."""
    return [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]


def main(files: Sequence[str]) -> int:
    """Run the cases of the files; returns the exit status."""
    failed = 0
    every = cases(files)
    for case in every:
        try:
            wrong = run_case(case)
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else error!r}"
        if wrong is not None:
            failed += 1
            print(f"{case['id']}: {wrong}")
    print(f"{len(every) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
