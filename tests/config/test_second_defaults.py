"""An option's default stands where it is declared, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.config.declared import SOURCE, definitions

OTHERS = {
    "headrace/streams/config.py": "Kafka Streams has another default of auto.offset.reset than the consumer",
    "headrace/kafka/tail.py": "a reader of a whole topic commits nothing, and a client needs the name of some group",
    "headrace/lineage/jobs.py": "what is shown of a connector without a class",
    "headrace/topics/creator.py": "what a message says where no broker is named",
    "headrace/topics/waiting.py": "the same",
    "headrace/testing/conformance.py": "a case that names no converter has a worker's default, by its one name",
    "headrace/testing/conformance_config.py": "the same",
}
"""Why a module has a text for an option that is not set, which is no second default."""


def declared() -> set[str]:
    """The names of all options that are not one plain word."""
    names = {name for definition in definitions() for name in definition.options}
    return {name for name in names if "." in name or name == "acks"}


def text_of(node: ast.expr, constants: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def is_get(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"


def says_something(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and node.value in ("", None))


def defaults(tree: ast.Module, names: set[str]) -> Iterator[int]:
    """The lines with `settings.get("an.option", default)`, or `settings.get("an.option") or default`."""
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        asked, default = None, None
        if is_get(node) and len(node.args) == 2:  # type: ignore[attr-defined]
            asked, default = node.args  # type: ignore[attr-defined]
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and is_get(node.values[0]):
            asked, default = node.values[0].args[0], node.values[-1]  # type: ignore[attr-defined]
            default = default if isinstance(default, ast.Constant) else None
        if asked is not None and default is not None and says_something(default) and text_of(asked, constants) in names:
            yield node.lineno  # type: ignore[attr-defined]


def test_no_setting_is_read_with_a_default_of_its_own() -> None:
    names = declared()
    assert {"retry.backoff.ms", "offset.storage.partitions", "source.consumer.poll.timeout.ms"} & names
    places = {
        str(path.relative_to(SOURCE.parent)): lines
        for path in sorted(SOURCE.rglob("*.py"))
        if (lines := list(defaults(ast.parse(path.read_text(encoding="utf-8")), names)))
    }
    assert places.keys() - OTHERS.keys() == set(), places
    assert places.keys() >= OTHERS.keys(), "one that is gone needs no reason any more"


def test_a_second_default_is_seen() -> None:
    tree = ast.parse('KEY = "retry.backoff.ms"\nprops.get(KEY, "100")\nprops.get("acks") or "all"\nprops.get("acks")\n')
    assert list(defaults(tree, {"retry.backoff.ms", "acks"})) == [2, 3]
