"""The names of columns inside a sub-topology, and the small expressions that several operators share.

Records of a stream: `p` (int, the task's partition), `k`, `v` (key and value, typed), `t` (bigint, milliseconds), `o`
(array<bigint>, the place in the order of the task), `h` (headers). Changes of a table: `p`, `k`, `old`, `new`, `t`, `o`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from headrace.errors import StreamsError
from headrace.sql_functions import F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


def kind_of(frame: DataFrame, column: str) -> DataType:
    """The type of a column."""
    return frame.schema[column].dataType


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """All rows of frames with the same columns; at least one frame."""
    return reduce(lambda first, second: first.unionByName(second), frames)


def null(kind: DataType) -> Column:
    """NULL of a type."""
    return F.lit(None).cast(kind)


def column(value: Any) -> Column:
    """The result of a user's function as a Column: Python values become literals."""
    from pyspark.sql import Column

    return value if isinstance(value, Column) else F.lit(value)


def apply(function: Callable[..., Any], node: str, *arguments: Any) -> Any:
    """Call a user's function with Columns. Raises StreamsError that names the operator if it fails."""
    try:
        return function(*arguments)
    except Exception as error:
        raise StreamsError(f"The function of {node} failed when it was called with Columns: {_first_line(error)}") from error


def keyed(function: Callable[..., Any], node: str, key: Column, *arguments: Column) -> Any:
    """Call a user's function; with the key first if it has one more parameter than there are arguments."""
    all_arguments = arguments if parameters(function) <= len(arguments) else (key, *arguments)
    return apply(function, node, *all_arguments)


def parameters(function: Callable[..., Any]) -> int:
    """The number of a function's positional parameters; 1 if it is unknown."""
    try:
        declared = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    return sum(1 for parameter in declared if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD))


def pair(result: Any, node: str) -> tuple[Column, Column]:
    """The key and the value that a user's function returned. Raises StreamsError for anything but two."""
    if not isinstance(result, Sequence) or isinstance(result, str | bytes) or len(result) != 2:
        raise StreamsError(f"The function of {node} has to return a key and a value, but returned {type(result).__name__}.")
    return column(result[0]), column(result[1])


def checked(frame: Callable[[], DataFrame], node: str) -> DataFrame:
    """The frame, analyzed. Raises StreamsError that names the operator if Spark refuses an expression of the user's."""
    from pyspark.errors import PySparkException

    try:
        return frame()
    except PySparkException as error:
        raise StreamsError(f"The expression of {node} cannot be evaluated: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).strip().splitlines()[0]
