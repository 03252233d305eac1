"""A registry in memory for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.testing.registry import SchemaRegistry


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as registry:
        yield registry
