"""The options of Kafka's own clients, as far as they have to be known: name, type, default and importance (Kafka 4.3).

`client_options.tsv` has one row per option and default; its last column says whose it is: p producer, c consumer, a
admin client, w a distributed worker. `null` is no value, `REQUIRED` no default.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from headrace.config.definition import ConfigDef
from headrace.config.java_classes import missing
from headrace.config.option import Option
from headrace.config.types import REQUIRED, Importance, Type
from headrace.config.validators import ValidList

_LETTERS = {"producer": "p", "consumer": "c", "admin": "a", "worker": "w"}


@cache
def client_definition(user: str) -> ConfigDef:
    """The options of a "producer", "consumer" or "admin" client, or the client-like ones of a "worker"; read-only."""
    rows = (files("headrace.config") / "client_options.tsv").read_text(encoding="utf-8").splitlines()[1:]
    letter = _LETTERS[user]
    return ConfigDef(_option(*cells[:4]) for row in rows if letter in (cells := row.split("\t"))[4])


def client_value(user: str, settings: Mapping[str, str], name: str) -> Any:
    """A setting of a client, of its type; Kafka's default where it is not set. Raises ConfigError."""
    return client_definition(user).value(name, settings)


def _option(name: str, kind: str, default: str, importance: str) -> Option:
    value = REQUIRED if default == "REQUIRED" else None if default == "null" else default
    doc = "A setting of Kafka's clients; see the documentation of Kafka."
    lists = ValidList(empty_ok=value is not REQUIRED) if kind == Type.LIST else None  # KIP-1161
    resolve = _unless_missing if kind == Type.CLASS else None
    return Option(name, Type(kind), value, lists, Importance(importance), doc, resolve=resolve)


def _unless_missing(name: str) -> str | None:
    return None if missing(name) else name
