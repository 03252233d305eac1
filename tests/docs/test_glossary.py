"""The glossary names what embodies a term: packages, modules, classes and Java files that exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(headrace(?:\.\w+)+)`", GLOSSARY)))


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_what_the_glossary_names_is_there(name: str) -> None:
    assert exists(name)


def test_java_files_of_the_glossary_are_there() -> None:
    there = {path.name for path in (ROOT / "src").rglob("*.java")}
    assert set(re.findall(r"`(\w+\.java)`", GLOSSARY)) <= there


def test_it_has_the_terms_that_a_reader_needs() -> None:
    assert GLOSSARY.count("\n| ") > 35
