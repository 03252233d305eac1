"""The packages are layers: imports go one way only, and modules stay small (docs: README, "How it is built")."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "headrace"
LAYERS = (
    "errors", "retry", "plugins", "plugin_metrics", "config", "record", "values", "jvm", "kafka", "spark", "registry", "avro",
    "json_schema", "protobuf", "connect_config",
    "converters", "connectors", "predicates", "transforms", "topics", "runtime", "preview", "dead_letters", "cluster", "rest",
    "lineage", "streams", "embedded", "signals", "worker_process", "testing", "demo", "sbom", "doctor", "cli", "reference_pages",
    "docs_pages",
)  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))


NAMES = {".".join(("headrace", *path.relative_to(SOURCE).with_suffix("").parts)): path for path in MODULES}
"""Module name → file."""


def imported(path: Path) -> set[str]:
    """The modules of headrace that a module imports, also where a function does so when it is called."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "headrace":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in NAMES or node.module == "headrace" else node.module)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_from_its_own_layer_and_those_before(path: Path) -> None:
    layer = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if layer == "__init__":
        return
    assert layer in LAYERS, f"{layer} is in no layer: add it to LAYERS"
    packages = {name.split(".")[1] for name in imported(path)} & set(LAYERS)
    later = {name for name in packages if LAYERS.index(name) > LAYERS.index(layer)}
    assert not later


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_has_one_idea(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 400


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            assert node.end_lineno - node.lineno <= 50, node.name


def test_a_class_name_stands_for_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


DSL = frozenset({
    "aggregation", "branched", "cogrouped", "foreign_key", "grouped_stream", "grouped_table", "stream", "stream_join", "table",
    "table_join",
})  # fmt: skip
"""The classes of Kafka Streams' DSL return each other: a stream becomes a table, which becomes a stream."""


def test_no_module_imports_itself_by_way_of_others() -> None:
    imports = {name: imported(path) & NAMES.keys() for name, path in NAMES.items()}
    left = set(imports)  # without what is in no circle: what imports nothing that is left, or is imported by nothing that is left
    while alone := {m for m in left if not imports[m] & left or not any(m in imports[other] for other in left)}:
        left -= alone
    assert {name.removeprefix("headrace.streams.") for name in left} == DSL
