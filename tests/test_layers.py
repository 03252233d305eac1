"""The packages are layers: imports go one way only, and modules stay small (docs/design.md)."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "headrace"
LAYERS = (
    "errors", "background", "retry", "plugins", "plugin_metrics", "config", "record", "sql_functions", "values", "jvm", "kafka",
    "spark", "registry", "avro", "json_schema", "protobuf", "connect_config",
    "converters", "connectors", "predicates", "transforms", "topics", "runtime", "preview", "dead_letters", "cluster", "rest",
    "lineage", "streams", "embedded", "signals", "worker_process", "testing", "demo", "sbom", "doctor", "cli", "error_pages",
    "metric_pages", "reference_pages", "docs_pages",
)  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return ".".join(("headrace", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


NAMES = {_name(path): path for path in MODULES}
"""Module name → file; the name of a package is that of its `__init__`."""
TEXTS = {path: path.read_text(encoding="utf-8") for path in MODULES}
JAVA = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.java"))}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(text) for path, text in TEXTS.items()}


def imported(tree: ast.Module) -> set[str]:
    """The modules of headrace that a module imports, also where a function does so when it is called."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "headrace":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in NAMES or node.module == "headrace" else node.module)
    return found


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports."""
    return {name: imported(trees()[path]) for name, path in NAMES.items()}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_a_module_imports_only_from_its_own_layer_and_those_before() -> None:
    assert {layer(path) for path in MODULES} - {"__init__"} == set(LAYERS), "each package is in LAYERS"
    later: dict[str, list[str]] = {}
    for name, path in NAMES.items():
        packages = {other.split(".")[1] for other in imports()[name]} & set(LAYERS) if layer(path) in LAYERS else set()
        if above := [package for package in packages if LAYERS.index(package) > LAYERS.index(layer(path))]:
            later[name] = above
    assert later == {}


def test_a_module_has_one_idea() -> None:
    lines = {str(path.relative_to(SOURCE)): text.count("\n") for path, text in {**TEXTS, **JAVA}.items()}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_a_function_fits_on_a_screen() -> None:
    functions = [
        (f"{path.relative_to(SOURCE)}: {node.name}", node.end_lineno - node.lineno)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    assert {name: lines for name, lines in functions if lines > 50} == {}


def test_the_design_names_every_package() -> None:
    design = (SOURCE.parents[1] / "docs" / "design.md").read_text(encoding="utf-8").partition("## The packages")[2]
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {package for package in packages if f"`{package}`" not in design} == set()


def test_a_class_name_stands_for_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_class_name_stands_for_one_thing_in_java() -> None:
    homes: dict[str, list[str]] = {}
    for path in JAVA:
        homes.setdefault(path.stem, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_stage_of_a_chain_is_complete_when_it_is_constructed() -> None:
    owners = ("self", "cls", "context")  # a compile context says where the compiler is
    later = []
    for path, tree in trees().items():
        for node in ast.walk(tree) if layer(path) in ("transforms", "predicates") else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) not in owners:
                later.append(f"{path.relative_to(SOURCE)}: {ast.unparse(node)}")
    assert later == []


DSL = frozenset({"cogrouped", "grouped_stream", "grouped_table", "stream", "table"})
"""The classes of Kafka Streams' DSL return each other (docs/decisions/0028-size-and-places.md)."""


def test_no_module_imports_itself_by_way_of_others() -> None:
    inner = {name: others & NAMES.keys() for name, others in imports().items()}
    packages = {name for name, path in NAMES.items() if path.name == "__init__.py"}
    assert any(others & packages for others in inner.values()), "a circle by way of a package is seen"
    left = set(inner)  # without what is in no circle: what imports nothing that is left, or is imported by nothing that is left
    while alone := {m for m in left if not inner[m] & left or not any(m in inner[other] for other in left)}:
        left -= alone
    assert {name.removeprefix("headrace.streams.") for name in left} == DSL
