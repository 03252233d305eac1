"""A connector as users write one: a PySpark DataSource whose stream counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.types import StructType


class Counting(DataSource):
    """Rows `n` from 0 to the number in the file `upto`, at most two at a time."""

    @classmethod
    def name(cls) -> str:
        return "counting"

    def schema(self) -> str:
        return "n int"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:
        return CountingReader(Path(self.options["upto"]))


class CountingReader(SimpleDataSourceStreamReader):
    def __init__(self, upto: Path) -> None:
        self._upto = upto

    def initialOffset(self) -> dict:
        return {"n": 0}

    def read(self, start: dict) -> tuple[Iterator[tuple], dict]:
        end = {"n": max(start["n"], min(start["n"] + 2, int(self._upto.read_text())))}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(self, start: dict, end: dict) -> Iterator[tuple]:
        return iter([(n,) for n in range(start["n"], end["n"])])

    def commit(self, end: dict) -> None:
        """Nothing to do."""
