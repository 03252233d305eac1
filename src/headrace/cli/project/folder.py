"""A project folder, read: `project.toml`, `connectors/`, `tests/`.

[environments.dev]
url = "http://localhost:8083"       the REST API of any worker
worker = "worker.properties"        for tests: whose converters are the defaults; may be left out
[environments.dev.values]
kafka = "localhost:9092"            stands where a setting of a connector has {{kafka}}
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headrace.cli.connectors.files import ConnectorFile, read_all
from headrace.errors import ConfigError

FILE = "project.toml"
_PLACE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_MEMBERS = {"url", "worker", "values"}


@dataclass(frozen=True)
class Environment:
    """Where a project is deployed."""

    name: str
    url: str
    values: Mapping[str, str]
    worker: Path | None = None
    """A worker file, whose converters are the defaults in tests."""


@dataclass(frozen=True)
class ChainTest:
    """Records in, records out, of the chain of a connector."""

    file: Path
    connector: str
    records: list[Any]
    expect: list[Any]
    """For each record: members of its output; null: it is dropped; `{"failure": text}`: it fails with that text."""


def environment(folder: Path, name: str | None) -> Environment:
    """An environment of a project; without a name the first. Raises ConfigError that says what is wrong in the file."""
    file = folder / FILE
    try:
        environments = tomllib.loads(file.read_text(encoding="utf-8")).get("environments")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}. `headrace project init` makes a project.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
    if not isinstance(environments, dict) or not environments:
        raise ConfigError(f'{file} has no environments; add a table [environments.dev] with url = "http://localhost:8083".')
    chosen = name or next(iter(environments))
    if chosen not in environments:
        raise ConfigError(f"{file} has no environment '{chosen}'; it has {', '.join(environments)}.")
    return _environment(file, chosen, environments[chosen])


def _environment(file: Path, name: str, table: Any) -> Environment:
    where = f"environments.{name} of {file}"
    if not isinstance(table, dict) or not isinstance(table.get("url"), str):
        raise ConfigError(f"{where} has no `url`, the address of a worker's REST API.")
    if unknown := sorted(table.keys() - _MEMBERS):
        raise ConfigError(f"{where} has {', '.join(unknown)}, which nothing reads; it may have {', '.join(sorted(_MEMBERS))}.")
    values = table.get("values", {})
    if not isinstance(values, dict) or any(isinstance(value, dict | list) for value in values.values()):
        raise ConfigError(f"The values of {where} have to be texts, numbers or booleans.")
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return Environment(name, table["url"], texts, file.parent / table["worker"] if "worker" in table else None)


def connectors(folder: Path, env: Environment) -> dict[str, ConnectorFile]:
    """The connectors of a project by name, with the values of an environment. Raises ConfigError with all that is wrong."""
    problems: list[str] = []
    connectors = {}
    for file in read_all([folder / "connectors"]):
        config = {}
        for key, text in file.config.items():
            config[key], missing = render(text, env.values)
            problems += [
                f"{file.file}: {key} has {{{{{name}}}}}, which environment {env.name} has no value for." for name in missing
            ]
        connectors[config["name"]] = replace(file, name=config["name"], config=config)
    if problems:
        raise ConfigError("\n".join(problems))
    return connectors


def render(text: str, values: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text with values in their places, which are not looked into again; and the names that have no value."""
    missing = [name for name in _PLACE.findall(text) if name not in values]
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text), missing


def chain_tests(folder: Path) -> list[ChainTest]:
    """The tests of a project, by file. Raises ConfigError for a file that is none."""
    return [_chain_test(file) for file in sorted((folder / "tests").glob("*.json"))]


def _chain_test(file: Path) -> ChainTest:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file} is not valid JSON: {error}.") from None
    kinds = {"connector": str, "records": list, "expect": list}
    if not isinstance(content, dict) or content.keys() != kinds.keys():
        raise ConfigError(f"{file} has to be an object of {', '.join(kinds)}.")
    for member, kind in kinds.items():
        if not isinstance(content[member], kind):
            raise ConfigError(f"{file}: `{member}` has to be {'a text' if kind is str else 'a list'}.")
    if len(content["records"]) != len(content["expect"]):
        raise ConfigError(
            f"{file} has {len(content['records'])} records, and {len(content['expect'])} to expect: there is one for each."
        )
    return ChainTest(file, **content)
