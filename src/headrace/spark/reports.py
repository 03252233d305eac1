"""Reports of records that travel in the text of an error: Spark gives a job that has failed no other way to say at which record.

A report is text between two marks. The text of an error may have the plan of its query as well, with the marks and what stands
between them in SQL: who looks for a report says which texts are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headrace.values.sql import Sql, concat, lit

_BEGIN, _END = "headrace.{}\x02", "\x03"


def text_of(kind: str, report: Sql) -> Sql:
    """The text with which `raise_error` is to end a job. kind: of report; report: a text without U+0002 and U+0003."""
    return concat(lit(_BEGIN.format(kind)), report, lit(_END))


def reports(kind: str, error: BaseException | None) -> Iterator[str]:
    """The texts that may be reports of this kind, in an error and in what it was raised from."""
    pattern = re.compile(re.escape(_BEGIN.format(kind)) + f"([^{_END}]*){_END}")
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield from pattern.findall(str(error))
        error = error.__cause__ or error.__context__
