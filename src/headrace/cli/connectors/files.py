"""Connector configurations from files and folders."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headrace.cluster.standalone.connector_files import connector_config
from headrace.errors import ConfigError, HeadraceError

ENDINGS = (".json", ".properties")


@dataclass(frozen=True)
class ConnectorFile:
    """A connector as a file wants it."""

    name: str
    config: dict[str, str]
    """With `name`."""
    file: Path
    initial_state: str | None = None
    """Of a new connector; None: running."""

    def body(self) -> dict[str, object]:
        """The body of `POST /connectors`."""
        state = {} if self.initial_state is None else {"initial_state": self.initial_state}
        return {"name": self.name, "config": self.config, **state}


def read_file(file: Path) -> ConnectorFile:
    """The connector of a file: `{"name", "config"}` or a map of settings with `name` in JSON, or Java properties.

    `name` is always among its settings. Raises ConfigError.
    """
    try:
        name, config, state = connector_config(file)
    except OSError as error:
        raise ConfigError(f"Connector file {file} cannot be read: {error.strerror}.") from None
    outer = _outer_name(file)
    if outer not in (None, name):
        raise ConfigError(f"Connector file {file} has two names: {outer}, and {name} in its config.")
    return ConnectorFile(name, config, file, state)


def read_all(paths: Iterable[Path]) -> list[ConnectorFile]:
    """The connectors of these files, and of all `*.json` and `*.properties` in these folders (not in theirs), by name.

    Raises ConfigError with everything that is wrong: with files that cannot be read, names that two files have, and a folder
    that has no such file.
    """
    by_name: dict[str, ConnectorFile] = {}
    problems: list[str] = []
    for path in paths:
        files = _files(path)
        if not files:
            problems.append(f"The folder {path} has no file that ends in {' or '.join(ENDINGS)}.")
        for file in files:
            try:
                connector = read_file(file)
            except HeadraceError as error:
                problems.append(error.message)
                continue
            duplicate = by_name.setdefault(connector.name, connector)
            if duplicate.file.resolve() != file.resolve():
                problems.append(f"Connector {connector.name} is in two files: {duplicate.file} and {file}.")
    if problems:
        raise ConfigError("\n".join(problems))
    return [by_name[name] for name in sorted(by_name)]


def _outer_name(file: Path) -> str | None:
    """The name beside the settings, of a file in the form `{"name", "config"}`."""
    content = json.loads(file.read_text(encoding="utf-8")) if file.suffix == ".json" else {}
    return content.get("name") if isinstance(content.get("config"), dict) else None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix in ENDINGS and not file.name.startswith("."))
