"""Classes that are there in every worker of Kafka Connect, whatever is installed: those of Java and of Kafka 4.3.

Kafka Connect loads any class that a configuration names, and then says what it is not. headrace has no Java classes to load; it
knows these by name. `java_classes.tsv` has a line for each package; inner classes, and packages that nobody would name in a
configuration, are left out.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

_NOT_OF_USERS = ("java.", "org.apache.kafka.")


def java_class(name: str) -> Literal["class", "interface"] | None:
    """What Java calls the class of this full name; None if it is not among those known."""
    mark = _mark(name)
    return None if mark is None else "interface" if mark == "/" else "class"


def creatable(name: str) -> bool:
    """Whether Kafka Connect can make an instance of a known class: not of Java's own, which its loaders do not load."""
    return _mark(name) == "" and not name.startswith("java.")


def _mark(name: str) -> str | None:
    package, _, simple = name.rpartition(".")
    names = _packages().get(package, frozenset())
    return next((mark for mark in ("", "/", "!") if simple and simple + mark in names), None)


def missing(name: str) -> bool:
    """Whether no jar of a user has a class of this full name: it is in no package, or in one of Java or Kafka that lacks it."""
    if java_class(name) is not None or "$" in name:
        return False
    return "." not in name or name.startswith(_NOT_OF_USERS)


@cache
def _packages() -> dict[str, frozenset[str]]:
    rows = (files("headrace.config") / "java_classes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {package: frozenset(names.split(" ")) for package, _, names in (row.partition("\t") for row in rows)}
