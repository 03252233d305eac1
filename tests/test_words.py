"""Kafka's and Spark's words: recreate, arrive, resume and report say more than `anew`, `comes by`, `goes on` and `told`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTEAD = re.compile(r"\b(anew|comes? by|came by|goes on|told)\b")
"""Recreate, restart or again; arrive; resume or continue; report, pass or ask."""


def texts() -> list[Path]:
    """Sources, and pages for users; decisions are as they were written."""
    sources = [path for end in ("py", "java", "tsv") for path in (ROOT / "src").rglob(f"*.{end}")]
    return [*sources, *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "tutorials").glob("*.md"), *ROOT.glob("*.md")]


def test_kafkas_words_are_used() -> None:
    found = []
    for path in texts():
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [f"{path.relative_to(ROOT)}:{number}" for number, line in enumerate(lines, 1) if INSTEAD.search(line)]
    assert found == []


SAY_NO_TYPE = {"found", "given", "one", "told"}


def test_local_names_say_what_they_are() -> None:
    names = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name in SAY_NO_TYPE:
                    names.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert names == []
