"""The reference page of errors: every sentence that headrace's code makes an error of, read from its syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_SOURCE = Path(__file__).parent
_INTRODUCTION = """\
Every sentence of headrace's own, by the package that says it; `{…}` stands for a value. Most sentences say what is wrong and what
would be right; beyond that, the class of the error says where it comes from and what to do, and the [index of errors](errors.md)
has sentences whose cause is elsewhere. Sentences of brokers, of Spark and of plugins in Java come as they are.

**setting**: a configuration is wrong, and was refused before anything was started. **record**: a record failed, and is dealt
with as `errors.*` says. **request**: a request over REST was refused. **failure**: a connector, task, command or application
ended. Before the sentence of a setting there often is `Invalid value {…} for configuration {…}: `.
"""
_CURES = _SOURCE / "error_cures.tsv"
_KINDS = {"ConfigError": "setting", "DataError": "record", "BadRequestError": "request", "RestError": "request"}


def errors_page(notice: str) -> str:
    """The page, which begins with its title and the notice that it was written by a program."""
    trees = source_trees()
    classes = error_classes(trees.values())
    rows = [f"| `{name}` | {classes[name]} | {cause} | {cure} |" for name, (cause, cure) in causes_and_cures().items()]
    by_package: dict[str, dict[str, str]] = {}
    for path, tree in trees.items():
        package = path.relative_to(_SOURCE).parts[0].removesuffix(".py")
        by_package.setdefault(package, {}).update(sentences(tree, classes))
    parts = ["# Every error", "", notice, _INTRODUCTION]
    parts += ["## Classes", "", "| class | kind | cause | cure |", "|---|---|---|---|", *rows, ""]
    for package, errors in by_package.items():
        if errors:
            rows = [f"| {_code(sentence)} | `{name}` |" for sentence, name in sorted(errors.items())]
            parts += [f"## `{package}`", "", "| sentence | class |", "|---|---|", *rows, ""]
    return "\n".join(parts).rstrip() + "\n"


def causes_and_cures() -> dict[str, tuple[str, str]]:
    """The cause and the cure of each class of errors, in Markdown, by its name."""
    _, *lines = _CURES.read_text(encoding="utf-8").splitlines()
    return {name: (cause, cure) for name, cause, cure in (line.split("\t") for line in lines)}


def source_trees() -> dict[Path, ast.Module]:
    """The syntax tree of each module of headrace."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(_SOURCE.rglob("*.py"))}


def error_classes(trees: Iterable[ast.Module]) -> dict[str, str]:
    """The names of the classes of errors, and the kind of error that each is."""
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    return {name: kind for name in bases if (kind := _kind(name, bases))}


def _kind(name: str, bases: Mapping[str, list[str]]) -> str | None:
    if name in _KINDS:
        return _KINDS[name]
    if name == "HeadraceError":
        return "failure"
    return next((kind for base in bases.get(name, ()) if (kind := _kind(base, bases))), None)


def sentences(tree: ast.Module, classes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each sentence of a module, and the class of its error."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        for name, argument in _arguments(call, classes):
            text = re.sub(r"\s+", " ", _text(argument, constants)).strip()
            if len(re.sub(r"\{…\}|\W", "", text)) > 5:  # what is made elsewhere says nothing here
                yield text, name


def _arguments(call: ast.Call, classes: Mapping[str, str]) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a call that are sentences of an error."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    owner = function.value.id if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) else ""
    if name in ("invalid",) and (not owner or owner in classes) and len(call.args) > 2:
        yield "ConfigError", call.args[2]
    elif name == "fail" and len(call.args) > 1:  # of a compiled chain
        yield "DataError", call.args[1]
    elif name in classes:
        yield from ((name, argument) for argument in call.args)


def _text(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value, {}) if isinstance(value, ast.Constant) else "{…}" for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, constants) + _text(node.right, constants)
    if isinstance(node, ast.Name) and node.id in constants:
        return _text(constants[node.id], {})
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("lit", "call", "concat"):
        return "".join(_text(argument, constants) for argument in node.args[node.func.id == "call" :])
    return "{…}"


def _code(sentence: str) -> str:
    escaped = sentence.replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"
