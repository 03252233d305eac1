"""The Connect schema and the plan to read data of one registered schema, and the JSON of its text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from headrace.errors import DataError
from headrace.values.schema import Schema


@dataclass(frozen=True)
class Reading:
    """How the bytes after a schema's id are read as Connect data."""

    schema: Schema | None
    """None for schemaless data."""
    plan: Any
    """The plan by which the format's reader in Java reads the bytes as the payload of the schema."""


def parsed_schema(text: str, what: str) -> Any:
    """The JSON that the text of a schema is. what: begins the sentence, as `The Avro schema`. Raises DataError if it is none."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise DataError(f"{what} is no JSON: {error}") from None
