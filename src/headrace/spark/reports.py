"""Reports of records in the text of an error, as a failed Spark job has no other way to name a record.

A report is text between two marks. The text of an error may also contain the plan of its query, with the marks and the SQL
between them: the caller decides which texts are reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from headrace.values.sql import Sql, concat, lit

_BEGIN, _END = "headrace.{}\x02", "\x03"


def text_of(kind: str, report: Sql) -> Sql:
    """The text for `raise_error`, which fails a job. kind: of report; report: a text without U+0002 and U+0003."""
    return concat(lit(_BEGIN.format(kind)), report, lit(_END))


def reports(kind: str, error: BaseException | None) -> Iterator[str]:
    """The texts that may be reports of this kind, in an error and its causes."""
    pattern = re.compile(re.escape(_BEGIN.format(kind)) + f"([^{_END}]*){_END}")
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield from pattern.findall(str(error))
        error = error.__cause__ or error.__context__
