"""The tutorial of docs/formats.md does what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from headrace.testing.registry import SchemaRegistry

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def test_the_record_of_the_tutorial_becomes_what_it_shows(preview):
    schema, config, record, value = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL))
    with SchemaRegistry() as registry:
        assert registry.register("orders-value", schema) == 1
        config = {k: registry.url if k.endswith("registry.url") else v for k, v in config.items()}
        (result,) = preview(config, record)
    assert result["outcome"] == "passed", result
    assert json.loads(result["steps"][-1]["record"]["value"]["json"]) == value
    assert result["schemas"]["value"]["read"] == {"id": 1, "subject": "orders-value", "version": 1}


def test_the_registry_of_the_tutorial_starts():
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL) if "headrace.testing.registry" in text)
    names: dict[str, object] = {}
    exec(block, names)
    assert names["id"] == 1
