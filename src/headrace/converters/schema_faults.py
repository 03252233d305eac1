"""What is wrong with a schema is the fault of the records that have it: the others continue."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from headrace.errors import DataError, RetriableError
from headrace.registry.errors import InvalidResponseError, RegistryError
from headrace.values.recursion import parts_of
from headrace.values.schema import DECIMAL, Schema, SchemaBuilderError
from headrace.values.value import constant

log = structlog.get_logger(__name__)

_FACTS: tuple[tuple[str, type], ...] = (("name", str), ("version", int), ("doc", str))
_DEFAULTS: dict[str, type] = {
    "int8": int, "int16": int, "int32": int, "int64": int, "boolean": bool, "string": str, "bytes": str, "array": list,
    "struct": dict,
}  # fmt: skip


@contextmanager
def schema_faults(problem: str, of_data: bool = True) -> Iterator[None]:
    """Context in which a schema is learned: whatever is wrong with it becomes a DataError, a sentence after `problem`.

    of_data: also before the sentences of DataErrors. A registry that refuses, does not answer, or is
    none, is not the schema's fault.
    """
    try:
        yield
    except (RegistryError, InvalidResponseError, RetriableError):
        raise
    except (DataError, SchemaBuilderError) as error:
        if isinstance(error, DataError) and not of_data:
            raise
        raise DataError(f"{problem}: {error}") from None
    except Exception as error:
        log.warning("converter.schema.invalid", problem=problem, exc_info=error)
        raise DataError(f"{problem}: {type(error).__name__}: {error}") from None


class FailedSchemas:
    """Why schemas of the registry cannot be read, by their ids or GUIDs: the registry is not asked for them again."""

    MAX_CAUSES = 20_000

    def __init__(self) -> None:
        self._causes: OrderedDict[str, str] = OrderedDict()

    def cause(self, text: str) -> str | None:
        """Why a schema cannot be read; None if that is not known."""
        return self._causes.get(text)

    def add(self, text: str, error: RegistryError | DataError) -> str:
        """Remember why a schema cannot be read; returns it. Raises the error if the registry has refused the login."""
        if isinstance(error, RegistryError) and error.refuses_login:
            raise error
        self._causes[text] = cause = f"{error.java_class}: {error}"
        if len(self._causes) > self.MAX_CAUSES:
            self._causes.popitem(last=False)
        return cause


def require_sound(schema: Schema | None) -> None:
    """Raise DataError, or ValueError, for a schema with which a chain could not be compiled: then no record could be read."""
    for part in () if schema is None else parts_of(schema):
        for fact, expected in _FACTS:
            if not isinstance(value := getattr(part, fact), (expected, type(None))):
                raise DataError(f"The {fact} of a schema of type {part.type.upper()} is {value!r}, not {expected.__name__}")
        for name, parameter in (part.parameters or {}).items():
            if not isinstance(parameter, str):
                raise DataError(f"The parameter {name} of a schema of type {part.type.upper()} is {parameter!r}, no text")
        _require_scale(part)
        if part.default is not None:
            _require_default(part, part.default)


def require_scales(schema: Schema | None) -> None:
    """Raise ValueError for a Decimal whose scale is no number; it cannot be written in another format."""
    for part in () if schema is None else parts_of(schema):
        _require_scale(part)


def _require_scale(part: Schema) -> None:
    text = (part.parameters or {}).get("scale")
    if part.logical == DECIMAL and text is not None and part.scale_problem:
        raise ValueError(f"{part.scale_problem}{text}")


def _require_default(schema: Schema, default: Any) -> None:
    expected = (str, int, float) if schema.logical == DECIMAL else _DEFAULTS.get(schema.type, object)
    if not isinstance(default, expected) or (isinstance(default, bool) and schema.type != "boolean"):
        raise DataError(f"Invalid default value {default!r} for type {schema.type.upper()}")
    constant(schema)
