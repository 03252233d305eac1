"""Column lineage: the source columns of each column that a connector writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.errors import HeadraceError
from headrace.transforms.column_lineage import ColumnRow
from headrace.transforms.stages import column_lineage, stages


def column_rows(config: Mapping[str, str | None]) -> Sequence[ColumnRow]:
    """The column lineage of a connector's chain; empty without transforms, or if the chain is invalid."""
    try:
        settings = {key: value for key, value in config.items() if value is not None}
        return column_lineage(stages(settings)) if settings.get("transforms") else ()
    except HeadraceError:  # its status has the error
        return ()


def columns_of(connector: str, config: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The same, as `GET /headrace/lineage` has it."""
    return [
        {
            "connector": connector,
            "column": row.column,
            "sources": [{"column": column, "transformation": how} for column, how in row.origins],
        }
        for row in column_rows(config)
    ]
