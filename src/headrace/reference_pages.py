"""The reference pages that are made of the code: commands (from typer), REST (from OpenAPI), metrics, errors; and `llms.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from headrace.error_pages import errors_page
from headrace.metric_pages import metrics_page

NOTICE = "<!-- Written by `python -m headrace.docs_pages` from the code; changes here are lost. -->\n"
_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"


def reference_pages() -> dict[str, str]:
    """File name → text of each page."""
    from headrace.converters.type_table import types_page

    return {
        "reference-cli.md": cli_page(),
        "reference-rest.md": rest_page(),
        "reference-metrics.md": metrics_page(NOTICE),
        "reference-types.md": types_page(NOTICE),
        "reference-errors.md": errors_page(NOTICE),
    }


# ------------------------------------------------------------------------------------------------ commands
def cli_page() -> str:
    """Every command with its help, arguments and options."""
    import typer

    from headrace.cli.app import app

    parts = ["# Commands\n", NOTICE]
    parts += _commands("headrace", typer.main.get_command(app))
    return "\n".join(parts).rstrip() + "\n"


def _commands(path: str, command: Any) -> Iterator[str]:
    children: Mapping[str, Any] = getattr(command, "commands", {})
    if not children or command.invoke_without_command or path == "headrace":
        yield _command(path, command)
    for name, child in children.items():
        if not child.hidden:
            yield from _commands(f"{path} {name}", child)


def _command(path: str, command: Any) -> str:
    usage = [f"headrace{path.removeprefix('headrace')}"]
    rows = []
    for parameter in command.params:
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        is_argument = parameter.param_type_name == "argument"
        name = parameter.metavar or parameter.name.upper() if is_argument else ", ".join(parameter.opts)
        if is_argument:
            shown = name + ("…" if parameter.nargs == -1 else "")
            usage.append(shown if parameter.required else f"[{shown}]")
        elif not parameter.is_flag:
            name += f" {parameter.metavar or 'VALUE'}"
        help_text = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
        rows.append(f"| `{name}` | {help_text}{_default(parameter)} |")
    table = "\n".join(["| | |", "|---|---|", *rows]) + "\n" if rows else ""
    text = (command.help or "").replace("\f", "").strip()
    return f"## {path}\n\n```\n{' '.join(usage)}\n```\n\n{text}\n\n{table}"


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or callable(value) or parameter.required or not isinstance(value, str | int | float):
        return ""
    return f" Default: `{value}`."


# ------------------------------------------------------------------------------------------------ REST
def rest_page() -> str:
    """Every path with its methods, parameters and answers."""
    document = openapi_document()
    parts = [
        "# REST API\n", NOTICE,
        "The paths of Kafka Connect, and headrace's own under `/headrace`. A worker describes them itself in `/openapi.json`.\n",
    ]  # fmt: skip
    for path in sorted(document["paths"], key=lambda path: (path.startswith("/headrace"), path)):
        for method, operation in document["paths"][path].items():
            parts.append(_operation(method.upper(), path, operation))
    return "\n".join(parts).rstrip() + "\n"


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document of a worker's main listener, without its page."""
    from headrace.cluster.herder import Herder
    from headrace.rest.app import create_app
    from headrace.runtime.standalone_config import StandaloneConfig

    no_herder = SimpleNamespace(on_log_level=lambda listener: None)  # nothing is asked of it: only the routes are read
    props = {"key.converter": _CONVERTER, "value.converter": _CONVERTER, "offset.storage.file.filename": "offsets"}
    config = StandaloneConfig({**props, "rest.page.enable": "false"})
    return create_app(cast(Herder, no_herder), config).openapi()


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    text = " ".join((operation.get("description") or operation.get("summary") or "").split())
    rows = [
        f"| `{parameter['name']}` ({parameter['in']}) | {' '.join(parameter.get('description', '').split())} |"
        for parameter in operation.get("parameters", ())
        if parameter["in"] != "path"
    ]
    table = "\n".join(["| | |", "|---|---|", *rows]) + "\n" if rows else ""
    answers = ", ".join(f"{status} {_schema(answer)}".strip() for status, answer in operation["responses"].items())
    body = _schema(operation.get("requestBody", {}))
    takes = f"Takes {body}. " if body else ""
    return f"## {method} {path}\n\n{text}\n\n{table}\n{takes}Answers: {answers}.\n"


def _schema(part: Mapping[str, Any]) -> str:
    for content in part.get("content", {}).values():
        reference = content.get("schema", {}).get("$ref", "")
        return f"`{reference.rpartition('/')[2]}`" if reference else ""
    return ""


# ------------------------------------------------------------------------------------------------ llms.txt
def llms_text(directory: Path) -> str:
    """`llms.txt` (llmstxt.org): each page of a directory with its title and first sentence."""
    lines = [
        "# headrace",
        "",
        "> Kafka Connect, MirrorMaker 2 and the topic life cycle of Kafka Streams in Python, on Spark.",
        "",
        "## Docs",
    ]
    lines += [_llms_entry(file, directory) for file in sorted([*directory.glob("*.md"), *directory.glob("tutorials/*.md")])]
    decisions = [_llms_entry(file, directory) for file in sorted(directory.glob("decisions/*.md"))]
    return "\n".join([*lines, "", "## Decisions", *decisions]) + "\n"


def decisions_text(directory: Path) -> str:
    """`decisions/README.md`: the decisions of a directory, and by which one a decision was replaced."""
    head = [
        "# Decisions",
        "",
        NOTICE,
        "One file for each decision that a reader would otherwise have to guess, dated, with what was seen that led to it.",
        "",
    ]
    files = sorted(file for file in directory.glob("decisions/*.md") if file.name != "README.md")
    return "\n".join([*head, *map(_decision, files)]) + "\n"


def _decision(file: Path) -> str:
    title, note, *_ = (line for line in file.read_text(encoding="utf-8").splitlines() if line)
    replaced = re.match(r"Replaced by (\[\d+\]\([^)]*\))(?: (for [^:;,.]*))?", note)
    more = "" if replaced is None else f"; replaced by {' '.join(filter(None, replaced.groups()))}"
    return f"- [{title.removeprefix('# ')}]({file.name}){more}"


def _llms_entry(file: Path, directory: Path) -> str:
    text = file.read_text(encoding="utf-8")
    title = next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), file.stem)
    return f"- [{title}]({file.relative_to(directory).as_posix()}): {_first_sentence(text)}"


def _first_sentence(text: str) -> str:
    for block in re.sub(r"^#.*\n", "", text, flags=re.M).split("\n\n"):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
        if plain and not re.match(r"[#|>!:-]|<!--|```|\d+\. ", plain):
            return re.split(r"(?<=[.!?]) |: (?=[-|] )", plain, maxsplit=1)[0].rstrip(":")  # not the list that it introduces
    return ""
