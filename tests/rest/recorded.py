"""Exchanges recorded from Kafka Connect (tests/conformance/rest), for those tests that need no worker behind the server."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

_RECORDED = Path(__file__).parents[1] / "conformance" / "rest"


def exchanges(*groups: str) -> list[dict[str, Any]]:
    """The recorded exchanges of these scenarios, in order."""
    lines = map(json.loads, (_RECORDED / "transcript.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["group"] in groups and line["kind"] == "exchange"]


def differ() -> Any:
    """The comparison that the conformance runner uses."""
    spec = importlib.util.spec_from_file_location("compare", _RECORDED / "compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Differ()
