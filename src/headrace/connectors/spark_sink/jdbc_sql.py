"""The statements that take rows from a stage table to the table of a sink. Pure; PostgreSQL where standard SQL is not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PARTITION, OFFSET, DELETED = "headrace_partition", "headrace_offset", "headrace_deleted"


@dataclass(frozen=True)
class Merge:
    """From `stage` to `table`."""

    table: str
    stage: str
    columns: Sequence[str]
    keys: Sequence[str]
    """`columns`, `keys`: of the table."""
    quoted: Callable[[str], str]
    """An identifier as SQL."""

    def create_stage(self) -> str:
        """An empty table with the columns of the table, in their types, and what the rows are ordered by."""
        return (
            f"CREATE TABLE {self.stage} AS SELECT {self._list(self.columns)}, CAST(0 AS INT) AS {PARTITION}, "
            f"CAST(0 AS BIGINT) AS {OFFSET}, CAST(0 AS INT) AS {DELETED} FROM {self.table} WHERE 1 = 0"
        )

    def statements(self, mode: str, deletes: bool) -> list[str]:
        """The statements of one transaction. mode: `insert`, `upsert` or `update`."""
        statements = [getattr(self, f"_{mode}")()]
        if deletes:
            statements.append(f"DELETE FROM {self.table} WHERE EXISTS (SELECT 1 FROM {self._last(1)} WHERE {self._same()})")
        return [*statements, f"DROP TABLE {self.stage}"]

    def _insert(self) -> str:
        names = self._list(self.columns)
        order = f"ORDER BY {PARTITION}, {OFFSET}"
        return f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {self.stage} WHERE {DELETED} = 0 {order}"

    def _upsert(self) -> str:
        names = self._list(self.columns)
        changes = ", ".join(f"{self.quoted(c)} = EXCLUDED.{self.quoted(c)}" for c in self._non_key_columns())
        action = f"DO UPDATE SET {changes}" if changes else "DO NOTHING"
        return (
            f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {self._last(0)} "
            f"ON CONFLICT ({self._list(self.keys)}) {action}"
        )

    def _update(self) -> str:
        changes = ", ".join(f"{self.quoted(c)} = r.{self.quoted(c)}" for c in self._non_key_columns())
        return f"UPDATE {self.table} SET {changes} FROM {self._last(0)} WHERE {self._same()}"

    def _last(self, deleted: int) -> str:
        """The last row of each key, those that are deletes or those that are none."""
        ranked = (
            f"SELECT s.*, ROW_NUMBER() OVER (PARTITION BY {self._list(self.keys)} ORDER BY {OFFSET} DESC, {PARTITION} DESC) "
            f"AS headrace_rank FROM {self.stage} s"
        )
        return f"(SELECT * FROM ({ranked}) q WHERE headrace_rank = 1 AND {DELETED} = {deleted}) r"

    def _same(self) -> str:
        return " AND ".join(f"{self.table}.{self.quoted(k)} = r.{self.quoted(k)}" for k in self.keys)

    def _non_key_columns(self) -> list[str]:
        return [c for c in self.columns if c not in self.keys]

    def _list(self, names: Sequence[str]) -> str:
        return ", ".join(map(self.quoted, names))
