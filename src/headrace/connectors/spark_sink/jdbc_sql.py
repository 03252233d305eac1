"""The statements that take rows from a stage table to the table of a sink. Pure; PostgreSQL where standard SQL is not enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

PARTITION, OFFSET, DELETED, SET = "headrace_partition", "headrace_offset", "headrace_deleted", "headrace_set"
_GREATEST = 2**63 - 1  # of BIGINT: a smaller literal is an INT


@dataclass(frozen=True)
class Merge:
    """From `stage` to `table`."""

    table: str
    stage: str
    columns: Sequence[str]
    """Of the table."""
    keys: Sequence[str]
    """Of the table: by them its rows are found."""
    quoted: Callable[[str], str]
    """An identifier as SQL."""
    sets: Sequence[Collection[str]] = ()
    """The columns that records have, if not all have the same; the stage says which of these are a record's."""

    def create_stage(self) -> str:
        """An empty table with the columns of the table, in their types, and what the rows are ordered by.

        The types of those are those of literals, which databases agree on: none has every name of a type, in none CAST takes all.
        """
        order = f"0 AS {PARTITION}, {_GREATEST} AS {OFFSET}, 0 AS {DELETED}, 0 AS {SET}"
        return f"CREATE TABLE {self.stage} AS SELECT {self._list(self.columns)}, {order} FROM {self.table} WHERE 1 = 0"

    def statements(self, mode: str, deletes: bool) -> list[str]:
        """The statements of one transaction. mode: `insert`, `upsert` or `update`."""
        # A key may be deleted and come again, so the delete comes first, and what came before it is not inserted. In an update,
        # too: with a delete and an update of its key in two batches, the update does not find the row either.
        statements = [self._delete()] if deletes else []
        for place, columns in enumerate(self.sets or [self.columns]):
            which = f" AND {SET} = {place}" if self.sets else ""
            rows = self._last(which)  # each record with its own columns: constraints are checked at each statement
            changed = [c for c in self._non_key_columns() if c in columns]
            if mode == "insert":
                after = f" AND {self._not_deleted()}" if deletes else ""
                statements += [self._insert([c for c in self.columns if c in columns], which + after)]
            elif mode == "upsert":
                statements += [self._upsert(changed, rows)]
            elif changed:  # of columns that are all in the key an update changes nothing
                statements += [self._update(changed, rows)]
        if mode != "insert":
            statements += self._updates_of_some(deletes)
        return [*statements, f"DROP TABLE {self.stage}"]

    def _updates_of_some(self, deletes: bool) -> list[str]:
        """The statements for columns that the last record of a key does not have, but one before it in the batch."""
        by_sets: dict[str, list[str]] = {}
        for column in self._non_key_columns():
            places = [str(place) for place, columns in enumerate(self.sets) if column in columns]
            if len(places) < len(self.sets):
                by_sets.setdefault(", ".join(places), []).append(column)
        after = f" AND {self._not_deleted()}" if deletes else ""
        not_last = f" AND EXISTS ({self._later('q')})"
        return [
            self._update(columns, self._last(not_last, f" WHERE {DELETED} = 0 AND {SET} IN ({places}){after}"))
            for places, columns in by_sets.items()
        ]

    def _delete(self) -> str:
        return f"DELETE FROM {self.table} WHERE EXISTS (SELECT 1 FROM {self.stage} r WHERE r.{DELETED} = 1 AND {self._same()})"

    def _insert(self, columns: Sequence[str], condition: str) -> str:
        names = self._list(columns)
        rows = f"SELECT {names} FROM {self.stage} s WHERE {DELETED} = 0{condition}"
        return f"INSERT INTO {self.table} ({names}) {rows} ORDER BY {PARTITION}, {OFFSET}"

    def _not_deleted(self) -> str:
        """The condition that the key of a row of the stage is not deleted after it."""
        return f"NOT EXISTS ({self._later('s')} AND d.{DELETED} = 1)"

    def _later(self, row: str) -> str:
        """The rows `d` of the stage with the key of a row, after it."""
        same = " AND ".join(f"d.{self.quoted(k)} = {row}.{self.quoted(k)}" for k in self.keys)
        later = f"(d.{OFFSET} > {row}.{OFFSET} OR (d.{OFFSET} = {row}.{OFFSET} AND d.{PARTITION} > {row}.{PARTITION}))"
        return f"SELECT 1 FROM {self.stage} d WHERE {same} AND {later}"

    def _upsert(self, columns: Sequence[str], rows: str) -> str:
        names = self._list([c for c in self.columns if c in self.keys or c in columns])
        changes = ", ".join(f"{self.quoted(c)} = EXCLUDED.{self.quoted(c)}" for c in columns)
        action = f"DO UPDATE SET {changes}" if changes else "DO NOTHING"
        return f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {rows} ON CONFLICT ({self._list(self.keys)}) {action}"

    def _update(self, columns: Sequence[str], rows: str) -> str:
        changes = ", ".join(f"{self.quoted(c)} = r.{self.quoted(c)}" for c in columns)
        return f"UPDATE {self.table} SET {changes} FROM {rows} WHERE {self._same()}"

    def _last(self, condition: str, of: str = "") -> str:
        """The last row of each key, if it is no delete and meets a condition. of: of which rows of the stage."""
        ranked = (
            f"SELECT s.*, ROW_NUMBER() OVER (PARTITION BY {self._list(self.keys)} ORDER BY {OFFSET} DESC, {PARTITION} DESC) "
            f"AS headrace_rank FROM {self.stage} s{of}"
        )
        return f"(SELECT * FROM ({ranked}) q WHERE headrace_rank = 1 AND {DELETED} = 0{condition}) r"

    def _same(self) -> str:
        return " AND ".join(f"{self.table}.{self.quoted(k)} = r.{self.quoted(k)}" for k in self.keys)

    def _non_key_columns(self) -> list[str]:
        return [c for c in self.columns if c not in self.keys]

    def _list(self, names: Sequence[str]) -> str:
        return ", ".join(map(self.quoted, names))
