"""The statements that take rows from a stage table to the table of a sink. Pure; PostgreSQL where standard SQL is not enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

PARTITION, OFFSET, DELETED = "headrace_partition", "headrace_offset", "headrace_deleted"
_GREATEST = 2**63 - 1  # of BIGINT: a smaller literal is an INT


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
        """An empty table with the columns of the table, in their types, and what the rows are ordered by.

        The types of those are those of literals, which databases agree on: none has every name of a type, in none CAST takes all.
        """
        order = f"0 AS {PARTITION}, {_GREATEST} AS {OFFSET}, 0 AS {DELETED}"
        return f"CREATE TABLE {self.stage} AS SELECT {self._list(self.columns)}, {order} FROM {self.table} WHERE 1 = 0"

    def statements(self, mode: str, deletes: bool) -> list[str]:
        """The statements of one transaction. mode: `insert`, `upsert` or `update`."""
        if mode == "insert" and deletes:
            # A key may be deleted and inserted again, so the delete comes first, and what came before it is not inserted.
            deleted = self._delete(f"{self.stage} r", f"r.{DELETED} = 1 AND {self._same()}")
            statements = [deleted, self._insert(f" AND {self._not_deleted()}")]
        else:
            # Of columns that are all in the key an update changes nothing.
            statements = [] if mode == "update" and not self._non_key_columns() else [getattr(self, f"_{mode}")()]
            statements += [self._delete(self._last(1), self._same())] if deletes else []
        return [*statements, f"DROP TABLE {self.stage}"]

    def _delete(self, deletes: str, condition: str) -> str:
        return f"DELETE FROM {self.table} WHERE EXISTS (SELECT 1 FROM {deletes} WHERE {condition})"

    def _insert(self, condition: str = "") -> str:
        names = self._list(self.columns)
        rows = f"SELECT {names} FROM {self.stage} s WHERE {DELETED} = 0{condition}"
        return f"INSERT INTO {self.table} ({names}) {rows} ORDER BY {PARTITION}, {OFFSET}"

    def _not_deleted(self) -> str:
        """The condition that the key of a row of the stage is not deleted after it."""
        same = " AND ".join(f"d.{self.quoted(k)} = s.{self.quoted(k)}" for k in self.keys)
        later = f"(d.{OFFSET} > s.{OFFSET} OR (d.{OFFSET} = s.{OFFSET} AND d.{PARTITION} > s.{PARTITION}))"
        return f"NOT EXISTS (SELECT 1 FROM {self.stage} d WHERE d.{DELETED} = 1 AND {same} AND {later})"

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
