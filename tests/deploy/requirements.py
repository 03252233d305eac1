"""What the packages of an environment need: by their metadata, and by the lock files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(requirements: Iterable[str]) -> set[str]:
    """The names of everything that these requirements need here, themselves included, as installed."""
    names: set[str] = set()
    waiting = list(_needed(requirements, frozenset({""})))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in names or requirement.extras:
            names.add(name)
            waiting += _needed(metadata.requires(name) or (), requirement.extras or frozenset({""}))
    return names


def _needed(requirements: Iterable[str], extras: Iterable[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            yield requirement


def locked(file: Path) -> dict[tuple[str, str], frozenset[str]]:
    """The hashes of a lock file, by name and version."""
    entries = {}
    for entry in re.split(r"\n(?=\S)", file.read_text().strip()):
        name, version = re.match(r"([\w.-]+)==(\S+)", entry).groups()  # type: ignore[union-attr]
        entries[name, version] = frozenset(re.findall(r"--hash=(\S+)", entry))
    return entries
