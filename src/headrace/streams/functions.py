"""Functions of the user's, with the numbers of arguments that they are called with, which in Kafka the compiler checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from headrace.errors import ArgumentError

Function = Callable[..., Any]
Initializer = Annotated[Function, (0,)]
ValueMapper = Annotated[Function, (1, 2)]
"""Takes the value, or key and value."""
KeyValueFunction = Annotated[Function, (2,)]
Reducer = Annotated[Function, (2,)]
ValueJoiner = Annotated[Function, (2, 3)]
"""Takes the values of both sides, or the key and these."""
GlobalValueJoiner = Annotated[Function, (2, 3, 4)]
"""As `ValueJoiner`, or takes the keys of both sides and their values (KIP-1340)."""
Aggregator = Annotated[Function, (3,)]
TimestampExtractor = Annotated[Function, (3,)]
"""Takes key, value, and the time of the record in ms."""
Partitioner = Annotated[Function, (4,)]
"""Takes topic, key, value, and the number of partitions."""
TopicNameExtractor = Annotated[Function, (3,)]
"""Takes key, value, and the context of the record."""


def check_function(function: object, what: str, kind: Any) -> None:
    """Raise ArgumentError for what cannot be called as a kind of function is.

    what: the parameter's name; kind: one of those above with numbers of arguments.
    """
    (counts,) = kind.__metadata__
    if not callable(function):
        raise ArgumentError(f"`{what}` is {function!r}, but should be a function or a class.")
    if not any(_takes(function, count) for count in counts):
        name, numbers = getattr(function, "__qualname__", repr(function)), " or ".join(map(str, counts))
        raise ArgumentError(f"`{what}` is called with {numbers} arguments, which {name} does not take.")


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a function in C that does not say
        return True
    return True
