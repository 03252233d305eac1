"""What tests about configurations share."""

from __future__ import annotations

import pytest

from headrace.config import redaction


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of config providers are forgotten before and after a test."""
    monkeypatch.setattr(redaction, "_placeholders", {})
    monkeypatch.setattr(redaction, "_pattern", None)
