"""What is logged is an event with fields, or a sentence of Kafka's with its arguments, so that it can be searched."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "headrace"
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


def log_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=level, value=ast.Name(id="log"))) if level in LEVELS:
                yield node


def formats(event: ast.expr) -> bool:
    return any(isinstance(node, ast.JoinedStr) for node in ast.walk(event))


@pytest.mark.parametrize("package", sorted(p.name for p in SOURCE.iterdir() if p.is_dir() and any(p.rglob("*.py"))))
def test_no_log_call_formats_its_event(package: str) -> None:
    wrong = []
    for file in sorted((SOURCE / package).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        name = str(file.relative_to(SOURCE))
        wrong += [f"{name}:{call.lineno}" for call in log_calls(ast.parse(text)) if formats(call.args[0])]
        if "logging.getLogger(__name__)" in text:
            wrong.append(f"{name}: structlog.get_logger(__name__)")
    assert wrong == []
