"""Building Spark SQL text: literals, quoting, calls and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

Sql = str
"""An expression of Spark SQL. A condition is never NULL."""

NEVER = "false"
# "\\0" and two digits would be one character, by its octal number
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\0": "\\u0000", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1a": "\\Z", "\b": "\\b"}


def lit(value: str | bool | int | float | None) -> Sql:
    """A literal: text, boolean, bigint or double."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return "(-9223372036854775807L - 1L)" if value == -(2**63) else f"{value}L" if value >= 0 else f"({value}L)"
    if isinstance(value, float):
        return f"double('{value!r}')"
    # "${" would be the start of a variable, which Spark replaces before it reads a literal.
    return "'" + "".join(_ESCAPES.get(c, c) for c in value).replace("${", "$\\u007b") + "'"


def quoted(name: str) -> Sql:
    """The name of a column."""
    return "`" + name.replace("`", "``") + "`"


def call(function: str, *arguments: Sql) -> Sql:
    """A function call."""
    return f"{function}({', '.join(arguments)})"


KINDS = 9
"""How many kinds a JSON value can have, 0 (absent) included (`headrace.values.kinds.JSON`)."""
_NEGATED = re.compile(r"\(NOT (h\d+)\)")
_KIND = re.compile(r"\((r\d+_k\d*) IN \(([\dY, ]+)\)\)")


def kind_in(column: Sql, kinds: Iterable[int]) -> Sql | None:
    """The condition that the kind of a JSON value, which is never NULL, is one of these.

    `all_of`, `any_of` and `negated` merge such conditions into one.
    """
    numbers = sorted(set(kinds))
    if len(numbers) == KINDS:
        return None
    return f"({column} IN ({', '.join(f'{k}Y' for k in numbers)}))" if numbers else NEVER


def _kinds(condition: Sql | None) -> tuple[Sql, set[int]] | None:
    match = _KIND.fullmatch(condition or "")
    return (match[1], {int(k.strip().rstrip("Y")) for k in match[2].split(",")}) if match else None


def _by_kind(conditions: list[Sql], join: Callable[[set[int], set[int]], set[int]]) -> list[Sql | None]:
    """Merge the conditions on the kind of the same value into one."""
    kinds: dict[Sql, set[int]] = {}
    other_conditions: list[Sql | None] = []
    for condition in conditions:
        kinds_found = _kinds(condition)
        if kinds_found is None:
            other_conditions.append(condition)
        else:
            kinds[kinds_found[0]] = join(kinds[kinds_found[0]], kinds_found[1]) if kinds_found[0] in kinds else kinds_found[1]
    return [*(kind_in(column, numbers) for column, numbers in kinds.items()), *other_conditions]


def all_of(*conditions: Sql | None) -> Sql | None:
    """All of these hold; None stands for a condition that always holds."""
    unique = list(dict.fromkeys(c for c in conditions if c is not None))
    conditions_of_kind = [c for c in _by_kind(unique, set.intersection) if c is not None]
    if NEVER in conditions_of_kind:
        return NEVER
    if not conditions_of_kind:
        return None
    return conditions_of_kind[0] if len(conditions_of_kind) == 1 else "(" + " AND ".join(conditions_of_kind) + ")"


def any_of(conditions: Iterable[Sql | None]) -> Sql | None:
    """One of these holds; NEVER if there is none."""
    distinct = list(dict.fromkeys(conditions))
    if None in distinct:
        return None
    joined = _by_kind([c for c in distinct if c is not None and c != NEVER], set.union)
    if None in joined:
        return None
    conditions_left = [c for c in joined if c is not None]
    if any(f"(NOT {c})" in conditions_left for c in conditions_left):
        return None
    if not conditions_left:
        return NEVER
    return conditions_left[0] if len(conditions_left) == 1 else "(" + " OR ".join(conditions_left) + ")"


def negated(condition: Sql | None) -> Sql | None:
    """The condition that this one does not hold; NEVER for None."""
    if condition is None:
        return NEVER
    kinds = _kinds(condition)
    if kinds is not None:
        return kind_in(kinds[0], set(range(KINDS)) - kinds[1])
    already = _NEGATED.fullmatch(condition)
    return None if condition == NEVER else already[1] if already else f"(NOT {condition})"


def base64_text(sql: Sql) -> Sql:
    """Bytes as base64 text; Spark breaks it into lines, Java's encoder does not."""
    return call("translate", call("base64", sql), lit("\r\n"), lit(""))


def case(branches: Sequence[tuple[Sql | None, Sql]], otherwise: Sql = "NULL") -> Sql:
    """The value of the first branch whose condition holds."""
    parts = []
    for condition, value in branches:
        if condition is None:
            otherwise = value
            break
        if condition != NEVER:
            parts.append(f"WHEN {condition} THEN {value}")
    return f"CASE {' '.join(parts)} ELSE {otherwise} END" if parts else otherwise


def concat(*parts: Sql) -> Sql:
    """Texts concatenated; adjacent literals become one."""
    joined: list[Sql] = []
    for part in parts:
        if joined and part.startswith("'") and joined[-1].startswith("'") and part.endswith("'") and joined[-1].endswith("'"):
            joined[-1] = (joined[-1][:-1] + part[1:]).replace("${", "$\\u007b")  # `$` and `{` came together
        else:
            joined.append(part)
    return joined[0] if len(joined) == 1 else call("concat", *joined)


def epoch_days(millis: Sql) -> Sql:
    """Days since 1970-01-01 of milliseconds, as `org.apache.kafka.connect.data.Date` has them: the low 32 bits."""
    return f"shiftright(shiftleft({millis} div 86400000L, 32), 32)"
