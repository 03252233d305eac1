"""The example of docs/preview.md is what comes out."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from rich.console import Console

from headrace.preview.records import from_lines
from headrace.preview.show import show
from tests.preview.conftest import prepared

PAGE = (Path(__file__).parents[2] / "docs" / "preview.md").read_text(encoding="utf-8")


def test_the_example_is_true(spark):
    config, records = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    shown = re.search(r"```\n\$ headrace preview [^\n]*\n(.*?)\n```", PAGE, re.DOTALL)
    assert shown
    preview = prepared(json.loads(config))
    console = Console(file=io.StringIO(), width=110)
    show(preview.run(spark, from_lines(records.encode(), preview.topic), describe_topics=False), console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\n".join(line.rstrip() for line in text.splitlines()).strip() == shown[1].strip()
