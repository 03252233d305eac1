"""Topologies that the real Kafka Streams has been asked about (tests/golden/streams), in Python."""

from __future__ import annotations

import inspect
from types import ModuleType

from tests.streams.programs import (
    aggregations,
    changes,
    joins,
    late,
    low_level,
    operators,
    optimized,
    results,
    schedules,
    stateless,
    tables,
    topics,
    windows,
)
from tests.streams.programs.case import Case

MODULES = (
    stateless,
    aggregations,
    tables,
    joins,
    optimized,
    low_level,
    topics,
    results,
    operators,
    windows,
    changes,
    schedules,
    late,
)


def cases(module: ModuleType) -> list[Case]:
    """The programs of a module, in the order of its text: its functions of one parameter, `b` or `t`."""
    found = []
    for name, function in vars(module).items():
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            config, partitions, records = getattr(function, "case", ({}, {}, ()))
            plain = "t" in inspect.signature(function).parameters
            found.append(Case(name, function, config, partitions, plain, records))
    return found
