"""A registry in memory for each test."""

from __future__ import annotations

from tests.registry.conftest import registry as registry
