"""The JSON body of a request, read with the rules of Connect's Jackson mapper.

Numbers keep their text until it is known what they are for: a configuration takes `1.50` as the text "1.50", an offset
as a number. Whatever cannot be read is answered 500, as Kafka Connect does (not 400): clients know it so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from typing import Any

from headrace.errors import ConnectError
from headrace.values import json_text

Tree = Any  # None, bool, Number, str, list or dict: what `parse` returns
_TOO_DEEP = "{} is nested too deeply."
_HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
_MAX_DIGITS = 1000  # Jackson's StreamReadConstraints.DEFAULT_MAX_NUM_LEN


class Number(str):
    """A JSON number, as it was written."""

    __slots__ = ()


def parse(raw: bytes, subject: str = "The body of the request") -> Tree:
    """Read a body; nothing, or white space, is None like `null`. Numbers come as Number. Raises ConnectError (500).

    subject: what is read, for the message.
    """
    if not raw.strip():
        return None
    try:
        tree = json.loads(raw, parse_int=_number, parse_float=_number, parse_constant=_constant)
    except RecursionError:
        raise ConnectError(_TOO_DEEP.format(subject)) from None
    except UnicodeDecodeError as error:
        raise ConnectError(f"{subject} is not JSON: not {error.encoding} at its byte {error.start + 1}.") from None
    except ValueError as error:  # JSONDecodeError too
        raise ConnectError(f"{subject} is not JSON: {error}") from None
    if json_text.is_too_deep(tree):
        raise ConnectError(_TOO_DEEP.format(subject))
    return _unpaired_replaced(tree) if _HALF_A_PAIR.search(raw) else tree


def text(value: Tree, field: str) -> str | None:
    """A value where a text is wanted: numbers and booleans as they were written.

    what: names the value in the message. Raises ConnectError for `{…}` and `[…]`.
    """
    if isinstance(value, (dict, list)):
        raise ConnectError(f"{field} has to be a text, a number or a boolean; got {_kind(value)}.")
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def texts(value: Tree, field: str) -> dict[str, str | None] | None:
    """A configuration: an object whose values are texts or null; None stays None. Raises ConnectError."""
    fields = mapping(value, field)
    return None if fields is None else {key: text(item, f'"{key}" of {field}') for key, item in fields.items()}


def mapping(value: Tree, field: str, names: Collection[str] | None = None) -> dict[str, Tree] | None:
    """An object; None stays None. names: the only fields it may have. Raises ConnectError."""
    if value is not None and not isinstance(value, dict):
        raise ConnectError(f"{field} has to be a JSON object; got {_kind(value)}.")
    if value and names is not None and (strange := [key for key in value if key not in names]):
        raise ConnectError(f'Unrecognized field "{strange[0]}" in {field}; it may have {_names(names)}.')
    return value


def items(value: Tree, field: str) -> list[Tree] | None:
    """A list; None stays None. Raises ConnectError."""
    if value is not None and not isinstance(value, list):
        raise ConnectError(f"{field} has to be a JSON array; got {_kind(value)}.")
    return value


def plain(value: Tree) -> Any:
    """A tree with its numbers as int or float, for values of any type. Raises ConnectError if a double is too small."""
    return json_text.with_scalars(value, _plain)


def _plain(value: Any) -> Any:
    if not isinstance(value, Number):
        return value
    if not any(c in value for c in ".eE"):
        return int(value)
    if math.isinf(number := float(value)):
        raise ConnectError(f"The number {value} in the body of the request is out of range.")
    return number


def _unpaired_replaced(tree: Tree) -> Tree:
    """Half a surrogate pair, which has no UTF-8 form, becomes the question mark that Java would store."""
    if isinstance(tree, dict):
        return {_unpaired_replaced(key): _unpaired_replaced(item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [_unpaired_replaced(item) for item in tree]
    return tree.encode("utf-8", "replace").decode() if type(tree) is str else tree


def _number(literal: str) -> Number:
    if len(literal) > _MAX_DIGITS:
        raise ValueError(f"a number of {len(literal)} characters; at most {_MAX_DIGITS} are allowed")
    return Number(literal)


def _constant(literal: str) -> Any:
    raise ValueError(f"{literal} is not a JSON value")


def _kind(value: Tree) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = ((dict, "an object"), (list, "an array"), (Number, "a number"), (str, "a text"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _names(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
