"""Connector files of standalone mode: JSON in Kafka Connect's three formats, or Java properties."""

from __future__ import annotations

import json
from pathlib import Path

from headrace.config import load_properties
from headrace.errors import ConfigError


def connector_config(file: Path) -> tuple[str, dict[str, str], str | None]:
    """Name, configuration and initial state (None: running) of a connector file.

    JSON is a map of settings with `name` among them, or `{"name", "config", "initial_state"?}` as for `POST /connectors`
    (KIP-980); any other ending is read as Java properties. Raises ConfigError.
    """
    if not file.is_file():
        raise ConfigError(f"Connector file {file} does not exist or is not a file; name a .json or .properties file.")
    return _from_json(file) if file.suffix == ".json" else _named(file, dict(load_properties(file)), None)


def _from_json(file: Path) -> tuple[str, dict[str, str], str | None]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as e:  # the latter for one that is nested too deep
        raise ConfigError(f"Connector file {file} is not valid JSON: {e}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"Connector file {file} contains a JSON {type(content).__name__}; it has to be an object of settings.")
    if isinstance(content.get("config"), dict):
        config = {"name": content.get("name"), **content["config"]}
        state = content.get("initial_state")
        if state is not None and str(state).upper() not in ("RUNNING", "PAUSED", "STOPPED"):
            raise ConfigError(f"Connector file {file}: initial_state is {state}; it has to be RUNNING, PAUSED or STOPPED.")
        return _named(file, config, str(state).upper() if state is not None else None)
    return _named(file, content, None)


def _named(file: Path, config: dict, state: str | None) -> tuple[str, dict[str, str], str | None]:
    name = config.get("name")
    if not name:
        raise ConfigError(f"Connector file {file} has no `name`.")
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in config.items() if v is not None}
    return str(name), texts, state
