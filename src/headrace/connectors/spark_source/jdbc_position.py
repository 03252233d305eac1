"""Where a table has been read to, and the conditions that follow from it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.connectors.base import SourceOffset
from headrace.errors import ConnectError

MICROS = 1_000_000


@dataclass(frozen=True)
class JdbcPosition:
    """The last row that was read."""

    time: int | None = None
    """In microseconds since the epoch; None in a mode without one."""
    number: int | None = None
    """None in a mode without one."""

    @classmethod
    def of(cls, offset: SourceOffset | None) -> JdbcPosition:
        """From a Connect offset, `{"timestamp": ms, "timestamp_nanos": of the second, "incrementing": n}`, as Confluent's
        JDBC source connector writes them.
        """
        if offset is None:
            return cls()
        numbers = {
            k: integer(k, offset[k]) for k in ("timestamp", "timestamp_nanos", "incrementing") if offset.get(k) is not None
        }
        time = None
        if "timestamp" in numbers:
            ms = numbers["timestamp"]
            time = ms // 1000 * MICROS + numbers["timestamp_nanos"] // 1000 if "timestamp_nanos" in numbers else ms * 1000
        return cls(time, numbers.get("incrementing"))

    @property
    def offset(self) -> SourceOffset:
        """The reverse of `of`."""
        position: dict[str, int] = {}
        if self.time is not None:
            position |= {"timestamp": self.time // 1000, "timestamp_nanos": self.time % MICROS * 1000}
        return position if self.number is None else position | {"incrementing": self.number}

    def to(self, last: JdbcPosition) -> JdbcPosition:
        """The end of the batch that begins after this position; last: of the last row, whose time is cut to microseconds.

        If that is not beyond this position, the times in the database are finer than microseconds, and the last row is within
        this one: then the end is the next microsecond.
        """
        if self.time is None or last.time is None or last.time > self.time:
            return last
        if last.number is not None and self.number is not None and last.number > self.number:
            return last
        return JdbcPosition(self.time + 1, last.number)


def integer(name: str, value: object) -> int:
    """A whole number of an offset. Raises ConnectError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConnectError(f"The value for the '{name}' key in the offset is expected to be a whole number, not {value!r}")
    return value


@dataclass(frozen=True)
class Growth:
    """The columns by which a table grows, as SQL."""

    time: str | None
    """SQL of a time; None in a mode without one."""
    number: str | None
    """SQL of a number; None in a mode without one."""
    literal: Callable[[int], str]
    """Takes a time in microseconds since the epoch, returns it as SQL."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order of the rows."""
        return [c for c in (self.time, self.number) if c is not None]

    def after(self, position: JdbcPosition) -> str:
        """The condition of the rows after a position; rows with NULL in a column are left out."""
        not_null = " AND ".join(f"{c} IS NOT NULL" for c in self.columns)
        beyond = self._comparison(position, ">", ">")
        return f"{not_null} AND {beyond}" if beyond else not_null

    def until(self, position: JdbcPosition) -> str:
        """The condition of the rows up to a position, that one included."""
        return self._comparison(position, "<", "<=")

    def _comparison(self, position: JdbcPosition, strictly: str, last: str) -> str:
        time = None if self.time is None or position.time is None else self.literal(position.time)
        number = None if self.number is None else position.number
        if time is None:
            return "" if number is None else f"{self.number} {last} {number}"
        if self.number is None:
            return f"{self.time} {last} {time}"
        if number is None:  # a start time without a row
            return f"{self.time} {strictly} {time}"
        return f"({self.time} {strictly} {time} OR ({self.time} = {time} AND {self.number} {last} {number}))"
